#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/mapped_file.h"
#include "data/zip_directory.h"

namespace flopmark {

/// Most tensors of one sample: arguments of forward and target.
inline constexpr size_t kMostTensors = 64;
/// 64 tensors take some 8 KiB. Every nesting level takes a byte at least, and freeing one some 400 bytes of
/// stack, so 16 KiB stay inside the stack of a thread.
inline constexpr size_t kMostPickleBytes = 16384;

/// What PyTorch or NumPy put in a zip archive, told by the names of its records.
enum class ArchiveKind { torchscript, exported, saved, npz, other };
ArchiveKind archive_kind(const std::vector<ZipEntry>& entries);

/// Whether the pickle of a file of torch.save is short enough to be that of kMostTensors tensors; else it is
/// of a state_dict or a model.
bool may_be_tensors(const std::vector<ZipEntry>& entries);

/// What must hold before LibTorch's unpickler sees a file of torch.save: it is one, nothing in it unpacks to
/// more than lies in the file (torch.save does not compress), and its pickle is no longer than that of a
/// list of kMostTensors tensors, so that neither memory nor depth can run away.
/// @throws Error 200 naming the file, what it is, and what to do.
void check_tensor_archive(const MappedFile& file);

/// A record's name as messages show it: cut, control characters replaced.
std::string printable_name(std::string_view name);

/// Whether the bytes are a pickle outside of a zip archive: protocol mark first, STOP last; or a file of
/// torch.save from before PyTorch 1.6.
bool is_bare_pickle(std::span<const std::byte> file);

}  // namespace flopmark
