#include "data/cifar_files.h"

#include <fmt/format.h>

#include <filesystem>

#include "flopmark/counted.h"
#include "flopmark/error.h"

namespace flopmark {
namespace {

constexpr int kBatches = 5;

}  // namespace

std::vector<std::string> cifar_files(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (!fs::is_directory(path, error)) return {path};
  std::vector<std::string> files;
  for (int batch = 1; batch <= kBatches; ++batch) {
    const fs::path file = fs::path(path) / fmt::format("data_batch_{}.bin", batch);
    if (!fs::exists(file, error)) {
      throw usage_error(fmt::format(
          "{}: no such file; data.type cifar10 reads data_batch_1.bin to data_batch_5.bin of the folder "
          "data.path (the binary version, cifar-10-batches-bin), or one such file",
          file.string()));
    }
    files.push_back(file.string());
  }
  return files;
}

int64_t check_cifar_file(const MappedFile& file) {
  const auto size = static_cast<int64_t>(file.bytes().size());
  if (size == 0 || size % kCifarRecordBytes != 0) {
    throw usage_error(fmt::format(
        "{}: {} are no whole number of CIFAR-10 records of {} bytes; is it the binary version, copied whole?",
        file.path(), counted(size, "byte"), kCifarRecordBytes));
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
