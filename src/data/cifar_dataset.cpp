#include "data/cifar_dataset.h"

#include <fmt/format.h>
#include <torch/types.h>

#include <span>
#include <stdexcept>
#include <utility>

#include "data/cifar_files.h"
#include "data/content_hash.h"
#include "data/image_model.h"
#include "flopmark/error.h"

namespace flopmark {
namespace {

/// Mean and standard deviation of the 50,000 training pictures, as everybody rounds them.
constexpr Normalisation kCifarNormalisation = {{0.4914F, 0.4822F, 0.4465F}, {0.2470F, 0.2435F, 0.2616F}};

constexpr int64_t kPlane = kCifarImageSize * kCifarImageSize;

}  // namespace

CifarDataset::CifarDataset(std::vector<MappedFile> files, Facts facts)
    : files_(std::move(files)), facts_(std::move(facts)) {
  for (const MappedFile& file : files_) size_ += std::ssize(file.bytes()) / kCifarRecordBytes;
}

const std::byte* CifarDataset::record(int64_t index) const {
  for (const MappedFile& file : files_) {
    const int64_t records = std::ssize(file.bytes()) / kCifarRecordBytes;
    if (index < records) return file.bytes().data() + index * kCifarRecordBytes;
    index -= records;
  }
  throw std::out_of_range("sample index beyond the dataset");
}

Batch CifarDataset::collate(const std::vector<size_t>& indices) const {
  for (const MappedFile& file : files_) file.check_unchanged();
  const auto rows = static_cast<int64_t>(indices.size());
  Batch batch;
  batch.inputs = {torch::empty({rows, kCifarChannels, kCifarImageSize, kCifarImageSize}, torch::kFloat32),
                  torch::empty({rows}, torch::kInt64)};
  auto* value = batch.inputs[0].mutable_data_ptr<float>();
  auto* label = batch.inputs[1].mutable_data_ptr<int64_t>();
  for (const size_t index : indices) {
    const std::byte* source = record(static_cast<int64_t>(index));
    *label++ = std::to_integer<int64_t>(*source++);
    for (size_t channel = 0; channel < static_cast<size_t>(kCifarChannels); ++channel) {
      const float scale = 1 / (255 * kCifarNormalisation.deviation[channel]),
                  shift = kCifarNormalisation.mean[channel] / kCifarNormalisation.deviation[channel];
      for (int64_t i = 0; i < kPlane; ++i) *value++ = std::to_integer<int>(*source++) * scale - shift;
    }
  }
  batch.samples = rows;
  batch.images = rows;
  return batch;
}

std::unique_ptr<Dataset> make_cifar_dataset(const RunConfig& config) {
  check_image_model(config, kCifarClasses);
  std::vector<MappedFile> files;
  std::string hashes;
  for (const std::string& path : cifar_files(config.data.path)) {
    files.emplace_back(path);
    check_cifar_file(files.back());
    ContentHash hash;
    hash.add(files.back().bytes());
    hashes += fmt::format("{:016x}", hash.value());
  }
  ContentHash hash;
  hash.add(std::as_bytes(std::span(hashes)));
  Dataset::Facts facts;
  facts.path = config.data.path;
  facts.format = "cifar10 binary";
  facts.hash = fmt::format("{:016x}", hash.value());
  return std::make_unique<CifarDataset>(std::move(files), std::move(facts));
}

}  // namespace flopmark
