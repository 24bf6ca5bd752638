#include "data/tensor_file.h"

#include <ATen/ops/from_blob.h>
#include <c10/util/Exception.h>
#include <caffe2/serialize/file_adapter.h>
#include <caffe2/serialize/inline_container.h>
#include <fmt/format.h>
#include <torch/csrc/jit/serialization/storage_context.h>
#include <torch/csrc/jit/serialization/unpickler.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <string_view>
#include <unordered_map>

#include "data/npy_file.h"
#include "data/tensor_archive.h"
#include "flopmark/error.h"
#include "flops/strided_span.h"

namespace flopmark {
namespace {

constexpr size_t kLongestWords = 200;

constexpr const char* kWanted =
    "expected a list, a tuple or a dict of tensors: save it with torch.save([x, y], path)";

struct TensorDtype {
  const char* name;
  torch::Dtype dtype;
};

constexpr TensorDtype kTensorDtypes[] = {
    {"float16", torch::kFloat16},   {"float32", torch::kFloat32}, {"float64", torch::kFloat64},
    {"bfloat16", torch::kBFloat16}, {"int8", torch::kInt8},       {"int16", torch::kInt16},
    {"int32", torch::kInt32},       {"int64", torch::kInt64},     {"uint8", torch::kUInt8},
    {"bool", torch::kBool},
};

[[noreturn]] void refuse_tensors(const std::string& path, const std::string& why) {
  throw usage_error(fmt::format("{}: {}", path, why));
}

/// The first line that says something, without LibTorch's stack trace.
std::string first_words(const std::exception& error) {
  const auto* torch_error = dynamic_cast<const c10::Error*>(&error);
  std::string text = torch_error != nullptr ? torch_error->what_without_backtrace() : error.what();
  text.erase(0, std::min(text.find_first_not_of(" \n"), text.size()));
  return printable_name(text.substr(0, std::min(text.find('\n'), kLongestWords)));
}

/// What the unpickler builds before anybody can look at its sizes: it reads their scales or indices at once.
void require_plain(std::string_view pickle, const std::string& path) {
  for (const std::string_view never : {"_rebuild_qtensor", "_rebuild_sparse"}) {
    if (pickle.find(never) == std::string_view::npos) continue;
    refuse_tensors(path, "holds quantized or sparse tensors, which are not read; save dense ones");
  }
}

/// The parser of types goes down a level for each bracket.
c10::TypePtr short_type(const std::string& text) {
  constexpr size_t kLongestType = 256;
  TORCH_CHECK(text.size() <= kLongestType, "the name of a type has ", text.size(), " bytes");
  return torch::jit::Unpickler::defaultTypeParser(text);
}

/// What a file's pickle says, and how many bytes the records hold that its storages lie in: the pickle's own
/// word for it is not checked by the unpickler.
struct Unpickled {
  c10::IValue value;
  std::unordered_map<const void*, size_t> record_bytes;
};

Unpickled unpickle(const std::string& path, size_t archive_bytes) try {
  caffe2::serialize::PyTorchStreamReader archive(std::make_unique<caffe2::serialize::FileAdapter>(path));
  size_t left_bytes = archive_bytes;
  const auto take = [&](const std::string& name) {
    const size_t bytes = archive.getRecordSize(name);
    if (bytes > left_bytes)
      refuse_tensors(path, "unpacks to more than the file holds; save it with torch.save");
    left_bytes -= bytes;
    return archive.getRecord(name);
  };
  if (archive.getRecordSize("data.pkl") > kMostPickleBytes) refuse_tensors(path, "has too large a pickle");
  const auto [pickle, pickle_bytes] = take("data.pkl");
  require_plain({static_cast<const char*>(pickle.get()), pickle_bytes}, path);
  size_t read_bytes = 0;
  const auto read_pickle = [&, data = static_cast<const char*>(pickle.get()), size = pickle_bytes](
                               char* target, size_t wanted) -> size_t {
    const size_t bytes = std::min(wanted, size - read_bytes);
    if (bytes > 0) std::memcpy(target, data + read_bytes, bytes);
    read_bytes += bytes;
    return bytes;
  };
  Unpickled result;
  const auto read_record = [&](const std::string& name) {
    auto [data, bytes] = take("data/" + name);
    result.record_bytes[data.get()] = bytes;
    return std::move(data);
  };
  // The context makes it read every record once, however often the pickle names it.
  torch::jit::Unpickler unpickler(read_pickle, /*type_resolver=*/nullptr, /*obj_loader=*/nullptr, read_record,
                                  torch::kCPU, /*use_storage_device=*/false, short_type,
                                  std::make_shared<torch::jit::DeserializationStorageContext>());
  unpickler.set_version(archive.version());
  result.value = unpickler.parse_ivalue();
  return result;
} catch (const c10::OutOfMemoryError&) {
  throw;
} catch (const std::bad_alloc&) {
  throw;
} catch (const Error&) {
  throw;
} catch (const std::exception& error) {
  const std::string words = first_words(error);
  if (words.find("can't allocate memory") != std::string::npos) throw;
  const bool tells = words.find("INTERNAL ASSERT") == std::string::npos;
  refuse_tensors(path,
                 fmt::format("holds something else than tensors (a state_dict, a pickled model?), or is "
                             "damaged{}; {}",
                             tells ? " (" + words + ")" : "", kWanted));
}

/// How many bytes really lie behind a tensor.
size_t bytes_behind(const torch::Tensor& tensor, const Unpickled& unpickled) {
  const auto found = unpickled.record_bytes.find(tensor.storage().data());
  return found == unpickled.record_bytes.end() ? 0 : std::min(found->second, tensor.storage().nbytes());
}

std::string place_of(const NamedTensor& entry, size_t index) {
  return entry.name.empty() ? fmt::format("tensor {}", index)
                            : "tensor \"" + printable_name(entry.name) + "\"";
}

/// The unpickler takes sizes, strides and offset as the file says them. An expanded view does not lie inside
/// either: it would be larger in memory than in the file.
bool lies_inside(const torch::Tensor& tensor, size_t bytes) {
  const auto capacity = static_cast<int64_t>(bytes) / static_cast<int64_t>(tensor.element_size());
  const auto span = strided_span(tensor.sizes(), tensor.strides(), tensor.storage_offset());
  if (!span || *span > capacity) return false;
  int64_t values = 1;
  for (const int64_t size : tensor.sizes()) {
    if (size == 0) return true;
    if (values > capacity / size) return false;
    values *= size;
  }
  return true;
}

void check_tensor(const NamedTensor& entry, size_t index, const Unpickled& unpickled,
                  const std::string& path) {
  const torch::Tensor& tensor = entry.tensor;
  const std::string place = place_of(entry, index);
  if (!tensor.defined() || tensor.layout() != torch::kStrided || tensor.is_quantized() ||
      !tensor.device().is_cpu()) {
    refuse_tensors(path,
                   place + " is no plain tensor (sparse, quantized or without values); save dense ones");
  }
  const bool known = std::any_of(std::begin(kTensorDtypes), std::end(kTensorDtypes),
                                 [&](const TensorDtype& type) { return type.dtype == tensor.scalar_type(); });
  if (!known) {
    refuse_tensors(path, fmt::format("{} has the dtype {}, which cannot be trained on; save another one",
                                     place, c10::toString(tensor.scalar_type())));
  }
  if (!lies_inside(tensor, bytes_behind(tensor, unpickled))) {
    refuse_tensors(path, place +
                             " reaches beyond the values that the file holds for it (an expanded view, or "
                             "a damaged file); save it with .clone()");
  }
}

void add_tensor(std::string name, const c10::IValue& value, const std::string& path,
                std::vector<NamedTensor>& tensors) {
  if (!value.isTensor()) {
    refuse_tensors(path, fmt::format("holds {} beside tensors; {}", value.tagKind(), kWanted));
  }
  tensors.push_back({std::move(name), value.toTensor()});
}

std::vector<NamedTensor> tensors_in(const c10::IValue& value, const std::string& path) {
  std::vector<NamedTensor> tensors;
  if (value.isTensor()) {
    tensors.push_back({"", value.toTensor()});
  } else if (value.isList()) {
    for (const c10::IValue& entry : value.toListRef()) add_tensor("", entry, path, tensors);
  } else if (value.isTuple()) {
    for (const c10::IValue& entry : value.toTupleRef().elements()) add_tensor("", entry, path, tensors);
  } else if (value.isGenericDict()) {
    for (const auto& entry : value.toGenericDict()) {
      add_tensor(entry.key().isString() ? entry.key().toStringRef() : "", entry.value(), path, tensors);
    }
  } else {
    refuse_tensors(path, fmt::format("holds {}; {}", value.tagKind(), kWanted));
  }
  return tensors;
}

}  // namespace

std::vector<NamedTensor> read_tensor_file(const MappedFile& file) {
  check_tensor_archive(file);
  const Unpickled unpickled = unpickle(file.path(), static_cast<size_t>(file.identity().size_bytes));
  std::vector<NamedTensor> tensors = tensors_in(unpickled.value, file.path());
  if (tensors.empty() || tensors.size() > kMostTensors) {
    refuse_tensors(file.path(),
                   fmt::format("holds {} tensors, from 1 to {} are read", tensors.size(), kMostTensors));
  }
  for (size_t i = 0; i < tensors.size(); ++i) {
    check_tensor(tensors[i], i, unpickled, file.path());
    tensors[i].tensor = tensors[i].tensor.detach().contiguous();
  }
  return tensors;
}

torch::Tensor npy_tensor(const MappedFile& file) {
  const NpyLayout layout = npy_layout(file.bytes(), file.path());
  const auto* type = std::find_if(std::begin(kTensorDtypes), std::end(kTensorDtypes),
                                  [&](const TensorDtype& known) { return layout.dtype == known.name; });
  if (type == std::end(kTensorDtypes)) refuse_tensors(file.path(), "has values of the type " + layout.dtype);
  auto* data = const_cast<std::byte*>(file.bytes().data()) + layout.offset_bytes;
  if (!layout.fortran_order) return at::from_blob(data, layout.shape, type->dtype);
  // The first index runs fastest: the transpose of an array in C order.
  const std::vector<int64_t> reversed(layout.shape.rbegin(), layout.shape.rend());
  std::vector<int64_t> order;
  for (int64_t dim = std::ssize(reversed); dim-- > 0;) order.push_back(dim);
  return at::from_blob(data, reversed, type->dtype).permute(order).contiguous();
}

}  // namespace flopmark
