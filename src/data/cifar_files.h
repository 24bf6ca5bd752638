#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "data/mapped_file.h"

namespace flopmark {

/// Records of each of the five files as published.
inline constexpr int64_t kCifarBatchRecords = 10000;

/// A record of CIFAR-10's binary version (Krizhevsky 2009): a label, then 32 x 32 red, green and blue bytes.
inline constexpr int64_t kCifarImageSize = 32, kCifarChannels = 3, kCifarClasses = 10;
inline constexpr int64_t kCifarPixelBytes = kCifarChannels * kCifarImageSize * kCifarImageSize;
inline constexpr int64_t kCifarRecordBytes = 1 + kCifarPixelBytes;

/// The files that `path` stands for: itself, or of a folder its data_batch_1.bin to data_batch_5.bin.
/// @throws Error 200 naming a file that is missing, and what may be it under another name.
std::vector<std::string> cifar_files(const std::string& path);

/// Whether a folder holds one of those five, of the binary version or of the Python one; maybe not all of
/// them.
bool has_cifar_batch(const std::string& folder);

/// Whether bytes could be such records: a whole number of them, each with a label of CIFAR-10.
bool holds_cifar_records(std::span<const std::byte> bytes);

/// Records of a file. @throws Error 200: empty, no whole number of records (CIFAR-100's are named), or a
/// label above 9, with its place.
int64_t check_cifar_file(const MappedFile& file);

}  // namespace flopmark
