#include "data/cifar_files.h"

#include <fmt/format.h>

#include <filesystem>
#include <set>

#include "flopmark/counted.h"
#include "flopmark/error.h"

namespace flopmark {
namespace {

namespace fs = std::filesystem;

constexpr int kBatches = 5;
/// CIFAR-100's records begin with two labels.
constexpr int64_t kCifar100RecordBytes = 2 + kCifarPixelBytes;

std::string batch_name(int batch) {
  return fmt::format("data_batch_{}.bin", batch);
}

bool is_cifar_batch(const std::string& name) {
  for (int batch = 1; batch <= kBatches; ++batch) {
    if (name == batch_name(batch)) return true;
  }
  return false;
}

/// Other files of the folder that may be the missing one under another name: up to three, the first by name.
std::string others_in(const fs::path& folder) {
  std::error_code error;
  std::set<std::string> names;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    std::error_code ignored;
    const bool is_usual = name == "test_batch.bin" || is_cifar_batch(name);
    if (name.ends_with(".bin") && !is_usual && at->is_regular_file(ignored)) names.insert(name);
  }
  std::string text;
  constexpr size_t kShown = 3;
  size_t shown = 0;
  for (const std::string& name : names) {
    if (++shown > kShown) return text + ", ...";
    text += (text.empty() ? "" : ", ") + name;
  }
  return text;
}

[[noreturn]] void refuse_missing(const fs::path& folder, int batch) {
  std::error_code error;
  const std::string place = (folder / batch_name(batch)).string();
  if (fs::exists(folder / "data_batch_1", error)) {
    throw usage_error(
        fmt::format("{}: no such file; the folder holds CIFAR-10's Python version, pickles that are never "
                    "opened: get the binary version (cifar-10-batches-bin)",
                    place));
  }
  const std::string others = others_in(folder);
  throw usage_error(fmt::format(
      "{}: no such file{}; data.type cifar10 reads data_batch_1.bin to data_batch_5.bin of the folder "
      "data.path (the binary version, cifar-10-batches-bin), by these names, or one such file of any name",
      place,
      others.empty() ? "" : fmt::format(", but the folder holds {}: is it one of them, renamed", others)));
}

}  // namespace

bool has_cifar_batch(const std::string& folder) {
  std::error_code error;
  for (int batch = 1; batch <= kBatches; ++batch) {
    const fs::path file = fs::path(folder) / batch_name(batch);
    if (fs::exists(file, error) || fs::exists(fs::path(file).replace_extension(), error)) return true;
  }
  return false;
}

std::vector<std::string> cifar_files(const std::string& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) return {path};
  std::vector<std::string> files;
  for (int batch = 1; batch <= kBatches; ++batch) {
    const fs::path file = fs::path(path) / batch_name(batch);
    if (!fs::exists(file, error)) refuse_missing(path, batch);
    files.push_back(file.string());
  }
  return files;
}

bool holds_cifar_records(std::span<const std::byte> bytes) {
  const auto size = std::ssize(bytes);
  if (size == 0 || size % kCifarRecordBytes != 0) return false;
  for (int64_t at = 0; at < size; at += kCifarRecordBytes) {
    if (std::to_integer<int64_t>(bytes[static_cast<size_t>(at)]) >= kCifarClasses) return false;
  }
  return true;
}

int64_t check_cifar_file(const MappedFile& file) {
  const auto size = static_cast<int64_t>(file.bytes().size());
  if (size == 0 || size % kCifarRecordBytes != 0) {
    const bool is_other = size > 0 && size % kCifar100RecordBytes == 0;
    throw usage_error(fmt::format(
        "{}: {} are no whole number of CIFAR-10 records of {} bytes{}; {}", file.path(),
        counted(size, "byte"), kCifarRecordBytes,
        is_other ? fmt::format(", but of CIFAR-100's of {}, which are not read here", kCifar100RecordBytes)
                 : "",
        is_other ? "get CIFAR-10's binary version" : "is it the binary version, copied whole?"));
  }
  file.check_unchanged();
  const int64_t records = size / kCifarRecordBytes;
  for (int64_t record = 0; record < records; ++record) {
    const auto label =
        std::to_integer<int64_t>(file.bytes()[static_cast<size_t>(record * kCifarRecordBytes)]);
    if (label < kCifarClasses) continue;
    throw usage_error(
        fmt::format("{}: record {} has the label {}, but CIFAR-10 has the classes 0 to {}; is it CIFAR-10's "
                    "binary version?",
                    file.path(), record, label, kCifarClasses - 1));
  }
  return records;
}

}  // namespace flopmark
