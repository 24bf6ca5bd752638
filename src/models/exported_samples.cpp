#include "models/exported_samples.h"

#include <c10/util/Exception.h>
#include <caffe2/serialize/inline_container.h>
#include <torch/csrc/jit/serialization/pickle.h>

#include <cstring>
#include <sstream>
#include <string>
#include <utility>

#include "flopmark/error.h"

namespace flopmark {
namespace {

constexpr const char* kSamples = "data/sample_inputs/{model}.pt";
constexpr int kDeepest = 16;

/// Whether the archive within the archive unpacks to no more than it is.
bool is_bounded(const std::vector<char>& bytes) {
  std::istringstream stream(std::string(bytes.data(), bytes.size()));
  caffe2::serialize::PyTorchStreamReader reader(&stream);
  size_t left = bytes.size();
  for (const std::string& record : reader.getAllRecords()) {
    const size_t size = reader.getRecordSize(record);
    if (size > left) return false;
    left -= size;
  }
  return true;
}

/// The unpickler believes what it reads of sizes; reading past the storage would not be noticed.
bool is_whole(const torch::Tensor& tensor) {
  if (!tensor.defined() || !tensor.has_storage() || !tensor.is_cpu()) return false;
  int64_t last = tensor.storage_offset(), bytes = 0;
  if (last < 0) return false;
  for (int64_t i = 0; i < tensor.dim(); ++i) {
    int64_t reach = 0;
    if (tensor.size(i) < 0 || tensor.stride(i) < 0) return false;
    if (tensor.size(i) == 0) return true;
    if (__builtin_mul_overflow(tensor.size(i) - 1, tensor.stride(i), &reach)) return false;
    if (__builtin_add_overflow(last, reach, &last)) return false;
  }
  if (__builtin_add_overflow(last, int64_t{1}, &last)) return false;
  if (__builtin_mul_overflow(last, static_cast<int64_t>(tensor.element_size()), &bytes)) return false;
  return static_cast<size_t>(bytes) <= tensor.storage().nbytes();
}

/// The tensors of nested tuples, lists and dicts, in order. False if one of them cannot be trusted.
bool collect(const c10::IValue& value, std::vector<torch::Tensor>& tensors, int depth) {
  if (depth > kDeepest) return false;
  if (value.isTensor()) {
    tensors.push_back(value.toTensor());
    return is_whole(tensors.back());
  }
  if (value.isTuple()) {
    for (const c10::IValue& element : value.toTupleRef().elements()) {
      if (!collect(element, tensors, depth + 1)) return false;
    }
  } else if (value.isList()) {
    for (const c10::IValue& element : value.toListRef()) {
      if (!collect(element, tensors, depth + 1)) return false;
    }
  } else if (value.isGenericDict()) {
    for (const auto& entry : value.toGenericDict()) {
      if (!collect(entry.value(), tensors, depth + 1)) return false;
    }
  }
  return true;
}

}  // namespace

std::vector<torch::Tensor> sample_inputs(ExportedArchive& archive) {
  const std::string record = archive.find(kSamples);
  if (record.empty()) return {};
  const auto [data, size] = archive.bytes(record);
  const auto* begin = static_cast<const char*>(data.get());
  const std::vector<char> bytes(begin, begin + size);
  try {
    std::vector<torch::Tensor> tensors;
    const bool whole = is_bounded(bytes) && collect(torch::jit::pickle_load(bytes), tensors, 0);
    return whole ? tensors : std::vector<torch::Tensor>{};
  } catch (const std::exception&) {
    return {};  // what cannot be read is not there: the caller says what to give instead
  }
}

}  // namespace flopmark
