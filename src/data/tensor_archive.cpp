#include "data/tensor_archive.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "flopmark/error.h"

namespace flopmark {
namespace {

constexpr const char* kHowToSave =
    "save the inputs alone: torch.save([x, y], path) with tensors of one first dimension";

/// A record's name below the archive's top folder, which PyTorch calls as it likes.
std::string_view inner_name(const ZipEntry& entry) {
  const std::string_view name = entry.name;
  const size_t slash = name.find('/');
  return slash == std::string_view::npos ? name : name.substr(slash + 1);
}

bool has_record(const std::vector<ZipEntry>& entries, std::string_view name) {
  return std::any_of(entries.begin(), entries.end(),
                     [&](const ZipEntry& entry) { return inner_name(entry) == name || entry.name == name; });
}

void check_sizes(const std::vector<ZipEntry>& entries, const MappedFile& file) {
  int64_t left = file.identity().size_bytes;
  for (const ZipEntry& entry : entries) {
    if (entry.compressed || entry.unpacked_bytes != entry.stored_bytes) {
      throw usage_error(fmt::format(
          "{}: its record {} is compressed ({} bytes unpack to {}), which torch.save never does: refused; {}",
          file.path(), printable_name(entry.name), entry.stored_bytes, entry.unpacked_bytes, kHowToSave));
    }
    left -= entry.unpacked_bytes;
    if (left < 0) {
      throw usage_error(fmt::format("{}: its records unpack to more than the file's {} bytes: refused; {}",
                                    file.path(), file.identity().size_bytes, kHowToSave));
    }
  }
}

}  // namespace

std::string printable_name(std::string_view name) {
  constexpr size_t kShown = 80;
  std::string text;
  for (const char c : name.substr(0, kShown)) text += c >= ' ' && c < '\x7f' ? c : '?';
  return text;
}

ArchiveKind archive_kind(const std::vector<ZipEntry>& entries) {
  if (has_record(entries, "models/model.json") || has_record(entries, "serialized_exported_program.json")) {
    return ArchiveKind::exported;
  }
  if (has_record(entries, "constants.pkl")) return ArchiveKind::torchscript;
  if (has_record(entries, "data.pkl")) return ArchiveKind::saved;
  const bool arrays = !entries.empty() && std::all_of(entries.begin(), entries.end(), [](const ZipEntry& e) {
    return e.name.ends_with(".npy");
  });
  return arrays ? ArchiveKind::npz : ArchiveKind::other;
}

bool may_be_tensors(const std::vector<ZipEntry>& entries) {
  return std::none_of(entries.begin(), entries.end(), [](const ZipEntry& entry) {
    return inner_name(entry) == "data.pkl" && entry.unpacked_bytes > static_cast<int64_t>(kMostPickleBytes);
  });
}

bool is_bare_pickle(std::span<const std::byte> file) {
  if (file.size() < 4 || file[0] != std::byte{0x80} || file[1] < std::byte{2} || file[1] > std::byte{5}) {
    return false;
  }
  // PyTorch before 1.6 wrote several pickles, the first a number of ten bytes, and then the values.
  const bool is_torch = file[2] == std::byte{0x8a} && file[3] == std::byte{10};
  return is_torch || file.back() == std::byte{'.'};
}

void check_tensor_archive(const MappedFile& file) {
  const auto refuse = [&](const char* what) { throw usage_error(fmt::format("{}: {}", file.path(), what)); };
  if (file.bytes().empty()) refuse("is empty; save the tensors again with torch.save");
  if (is_bare_pickle(file.bytes())) {
    refuse(
        "is a Python pickle outside of a zip archive, which is not opened; save the tensors with "
        "torch.save as PyTorch 1.6 and later do");
  }
  if (!begins_as_zip(file.bytes())) {
    refuse("is no file of torch.save (not a zip archive); save the tensors with torch.save");
  }
  const std::vector<ZipEntry> entries = zip_directory(file.bytes(), file.path());
  switch (archive_kind(entries)) {
    case ArchiveKind::torchscript:
      refuse("is a TorchScript model, no data; name it in model.torchscript");
      break;
    case ArchiveKind::exported:
      refuse("is a model of torch.export, no data");
      break;
    case ArchiveKind::npz:
      refuse("is a .npz archive; save each array with numpy.save and list the files in data.paths");
      break;
    case ArchiveKind::other:
      refuse("is a zip archive, but none of torch.save; save the tensors with torch.save");
      break;
    case ArchiveKind::saved:
      break;
  }
  check_sizes(entries, file);
  if (!may_be_tensors(entries)) {
    refuse(
        "holds more than 64 tensors can be, such as a state_dict or a pickled model: no data; save the "
        "inputs alone: torch.save([x, y], path)");
  }
}

}  // namespace flopmark
