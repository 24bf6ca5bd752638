#include "data/tensor_dataset.h"

#include <fmt/format.h>

#include <cstring>
#include <stdexcept>
#include <utility>

#include "data/content_hash.h"
#include "data/npy_file.h"
#include "data/tensor_archive.h"
#include "data/tensor_file.h"
#include "flopmark/counted.h"
#include "flopmark/error.h"

namespace flopmark {
namespace {

/// A tensor and where it came from, for messages.
struct Column {
  std::string source;
  torch::Tensor tensor;
};

void add_columns(const MappedFile& file, std::vector<Column>& columns) {
  if (begins_as_npy(file.bytes())) {
    columns.push_back({file.path(), npy_tensor(file)});
    return;
  }
  for (const NamedTensor& entry : read_tensor_file(file)) {
    const std::string name =
        entry.name.empty() ? fmt::format("tensor {}", columns.size()) : printable_name(entry.name);
    columns.push_back({fmt::format("{} ({})", file.path(), name), entry.tensor});
  }
}

void check_columns(const std::vector<Column>& columns, const std::string& path) {
  if (columns.empty() || columns.size() > kMostTensors) {
    throw usage_error(fmt::format("{}: holds {}; one per argument of forward is expected, 1 to {}", path,
                                  counted(std::ssize(columns), "tensor"), kMostTensors));
  }
  for (const Column& column : columns) {
    if (column.tensor.dim() == 0) {
      throw usage_error(
          fmt::format("{}: is a single value; the first dimension must be the samples", column.source));
    }
    if (column.tensor.size(0) != columns.front().tensor.size(0)) {
      throw usage_error(fmt::format(
          "{}: has {} of the first dimension, but {} has {}: the first dimension must be the samples of all "
          "(a state_dict is no data)",
          column.source, column.tensor.size(0), columns.front().source, columns.front().tensor.size(0)));
    }
  }
  if (columns.front().tensor.size(0) == 0) {
    throw usage_error(fmt::format("{}: holds no sample (its first dimension is 0)", path));
  }
}

}  // namespace

TensorDataset::TensorDataset(std::vector<torch::Tensor> tensors, std::vector<MappedFile> files, Facts facts)
    : tensors_(std::move(tensors)), files_(std::move(files)), facts_(std::move(facts)) {
  if (tensors_.empty()) throw std::invalid_argument("a tensor dataset needs a tensor");
}

Batch TensorDataset::collate(const std::vector<size_t>& indices) const {
  for (const MappedFile& file : files_) file.check_unchanged();
  Batch batch;
  batch.samples = static_cast<int64_t>(indices.size());
  for (const torch::Tensor& source : tensors_) {
    std::vector<int64_t> shape = source.sizes().vec();
    shape.front() = batch.samples;
    torch::Tensor input = torch::empty(shape, source.scalar_type());
    const size_t row_bytes = source.nbytes() / static_cast<size_t>(source.size(0));
    auto* row = static_cast<char*>(input.mutable_data_ptr());
    const auto* rows = static_cast<const char*>(source.const_data_ptr());
    for (const size_t index : indices) {
      if (static_cast<int64_t>(index) >= size()) throw std::out_of_range("sample index beyond the dataset");
      if (row_bytes > 0) std::memcpy(row, rows + index * row_bytes, row_bytes);
      row += row_bytes;
    }
    batch.inputs.push_back(std::move(input));
  }
  return batch;
}

std::unique_ptr<Dataset> make_tensor_dataset(const RunConfig& config) {
  const std::vector<std::string> paths =
      config.data.paths.empty() ? std::vector{config.data.path} : config.data.paths;
  std::vector<MappedFile> files;
  files.reserve(paths.size());
  std::vector<Column> columns;
  std::string hashes, format;
  for (const std::string& path : paths) {
    const MappedFile& file = files.emplace_back(path);
    add_columns(file, columns);
    ContentHash hash;
    hash.add(file.bytes());
    hashes += fmt::format("{:016x}", hash.value());
    const std::string kind = begins_as_npy(file.bytes()) ? "npy" : "pt";
    if (format.find(kind) == std::string::npos) format += (format.empty() ? "" : ", ") + kind;
  }
  check_columns(columns, paths.front());
  std::vector<torch::Tensor> tensors;
  for (Column& column : columns) tensors.push_back(std::move(column.tensor));
  ContentHash hash;
  hash.add(std::as_bytes(std::span(hashes)));
  Dataset::Facts facts;
  facts.path = paths.front();
  facts.format = format;
  facts.hash = paths.size() == 1 ? hashes : fmt::format("{:016x}", hash.value());
  return std::make_unique<TensorDataset>(std::move(tensors), std::move(files), std::move(facts));
}

}  // namespace flopmark
