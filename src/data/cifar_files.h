#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/mapped_file.h"

namespace flopmark {

/// A record of CIFAR-10's binary version (Krizhevsky 2009): a label, then 32 x 32 red, green and blue bytes.
inline constexpr int64_t kCifarImageSize = 32, kCifarChannels = 3, kCifarClasses = 10;
inline constexpr int64_t kCifarPixelBytes = kCifarChannels * kCifarImageSize * kCifarImageSize;
inline constexpr int64_t kCifarRecordBytes = 1 + kCifarPixelBytes;

/// The files that `path` stands for: itself, or of a folder its data_batch_1.bin to data_batch_5.bin.
/// @throws Error 200 naming a file that is missing.
std::vector<std::string> cifar_files(const std::string& path);

/// Records of a file. @throws Error 200: empty, no whole number of records, or a label above 9, with its
/// place.
int64_t check_cifar_file(const MappedFile& file);

}  // namespace flopmark
