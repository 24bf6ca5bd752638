#include "models/exported_samples.h"

#include <c10/util/Exception.h>
#include <caffe2/serialize/inline_container.h>
#include <torch/csrc/jit/serialization/storage_context.h>
#include <torch/csrc/jit/serialization/unpickler.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "flopmark/error.h"

namespace flopmark {
namespace {

constexpr const char* kSamples = "data/sample_inputs/{model}.pt";
constexpr int kDeepest = 16, kMostValues = 4096;
constexpr size_t kMostPickleBytes = 65536, kLongestType = 256;

/// The bytes that the records really hold, by where they lie: the pickle's own word for it is not checked.
using RecordBytes = std::unordered_map<const void*, size_t>;

c10::TypePtr short_type(const std::string& text) {
  TORCH_CHECK(text.size() <= kLongestType, "the name of a type has ", text.size(), " bytes");
  return torch::jit::Unpickler::defaultTypeParser(text);
}

/// The archive within the archive, which may unpack to no more than it is. Each record is read once.
c10::IValue unpickle(const std::string& bytes, RecordBytes& record_bytes) {
  std::istringstream stream(bytes);
  caffe2::serialize::PyTorchStreamReader reader(&stream);
  size_t left = bytes.size();
  const auto take = [&](const std::string& name, size_t most) {
    const size_t size = reader.getRecordSize(name);
    TORCH_CHECK(size <= std::min(left, most), name, " is too large");
    left -= size;
    return reader.getRecord(name);
  };
  const auto [pickle, size] = take("data.pkl", kMostPickleBytes);
  const std::string_view text(static_cast<const char*>(pickle.get()), size);
  for (const char* never : {"_rebuild_qtensor", "_rebuild_sparse"}) {
    TORCH_CHECK(text.find(never) == std::string_view::npos, never);
  }
  size_t at = 0;
  const auto read_pickle = [&](char* target, size_t wanted) -> size_t {
    const size_t part = std::min(wanted, text.size() - at);
    std::memcpy(target, text.data() + at, part);
    at += part;
    return part;
  };
  const auto read_record = [&](const std::string& name) {
    auto [data, held] = take("data/" + name, left);
    record_bytes[data.get()] = held;
    return std::move(data);
  };
  torch::jit::Unpickler unpickler(read_pickle, /*type_resolver=*/nullptr, /*obj_loader=*/nullptr, read_record,
                                  torch::kCPU, /*use_storage_device=*/false, short_type,
                                  std::make_shared<torch::jit::DeserializationStorageContext>());
  unpickler.set_version(reader.version());
  return unpickler.parse_ivalue();
}

/// Reading past the record would not be noticed.
bool is_whole(const torch::Tensor& tensor, const RecordBytes& record_bytes) {
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
  const auto record = record_bytes.find(tensor.storage().data());
  return record != record_bytes.end() && static_cast<size_t>(bytes) <= record->second;
}

/// What is left of a look at nested values.
struct Look {
  const RecordBytes& record_bytes;
  std::vector<torch::Tensor> tensors = {};
  int values_left = kMostValues;
};

/// The tensors of nested tuples, lists and dicts, in order. False if one of them cannot be trusted.
bool collect(const c10::IValue& value, Look& look, int depth) {
  if (depth > kDeepest || --look.values_left < 0) return false;
  if (value.isTensor()) {
    look.tensors.push_back(value.toTensor());
    return is_whole(look.tensors.back(), look.record_bytes);
  }
  if (value.isTuple()) {
    for (const c10::IValue& element : value.toTupleRef().elements()) {
      if (!collect(element, look, depth + 1)) return false;
    }
  } else if (value.isList()) {
    for (const c10::IValue& element : value.toListRef()) {
      if (!collect(element, look, depth + 1)) return false;
    }
  } else if (value.isGenericDict()) {
    for (const auto& entry : value.toGenericDict()) {
      if (!collect(entry.value(), look, depth + 1)) return false;
    }
  }
  return true;
}

}  // namespace

std::vector<torch::Tensor> sample_inputs(ExportedArchive& archive) {
  const std::string record = archive.find(kSamples);
  if (record.empty()) return {};
  const auto [data, size] = archive.bytes(record);
  try {
    RecordBytes record_bytes;
    const c10::IValue value = unpickle({static_cast<const char*>(data.get()), size}, record_bytes);
    Look look{record_bytes};
    return collect(value, look, 0) ? look.tensors : std::vector<torch::Tensor>{};
  } catch (const std::exception&) {
    return {};  // what cannot be read is not there: the caller says what to give instead
  }
}

}  // namespace flopmark
