#include "models/exported_tensors.h"

#include <ATen/ops/empty.h>
#include <c10/core/GradMode.h>
#include <c10/util/Exception.h>
#include <fmt/format.h>

#include <limits>
#include <new>
#include <optional>
#include <stdexcept>
#include <vector>

#include "config/key_value.h"
#include "flopmark/error.h"
#include "flops/strided_span.h"
#include "models/exported_schema.h"

namespace flopmark {
namespace {

using nlohmann::json;

constexpr const char* kWeights = "data/weights/";
constexpr const char* kConstants = "data/constants/";

/// The payloads of a list such as data/weights/model_weights_config.json; none if there is no list.
json payloads(ExportedArchive& archive, const std::string& pattern) {
  if (archive.find(pattern).empty()) return json::object();
  json document = archive.document(pattern);
  const auto config = document.find("config");
  if (config == document.end() || !config->is_object()) {
    archive.file().refuse(
        fmt::format("{} is broken: it has no \"config\"; save it again with torch.export.save", pattern));
  }
  return std::move(*config);
}

/// Bytes of storage that a tensor reaches. @throws std::exception for sizes that no storage could have.
size_t reached_bytes(const std::vector<int64_t>& sizes, const std::vector<int64_t>& strides, int64_t offset,
                     size_t element_bytes) {
  if (sizes.size() != strides.size()) throw std::runtime_error("it has not as many strides as sizes");
  const std::optional<int64_t> values = strided_span(sizes, strides, offset);
  if (!values || *values > std::numeric_limits<int64_t>::max() / static_cast<int64_t>(element_bytes)) {
    throw std::overflow_error("its sizes, strides and offset are negative or too large to count");
  }
  return static_cast<size_t>(*values) * element_bytes;
}

}  // namespace

ExportedTensors::ExportedTensors(ExportedArchive& archive, const torch::Device& device)
    : archive_(archive),
      device_(device),
      weights_(payloads(archive, "data/weights/{model}_weights_config.json")),
      constants_(payloads(archive, "data/constants/{model}_constants_config.json")) {}

torch::Tensor ExportedTensors::find(const std::string& name) {
  std::string record;
  const json& found = payload(name, record);
  try {
    const std::string key = record + found.at("tensor_meta").dump();
    const auto known = tensors_.find(key);
    return known != tensors_.end() ? known->second : tensors_.emplace(key, make(found, record)).first->second;
  } catch (const Error&) {
    throw;
  } catch (const c10::OutOfMemoryError&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    archive_.file().refuse(fmt::format("the tensor {} is broken: {}; save it again with torch.export.save",
                                       quoted_text(name), reason_line(error)));
  }
}

/// Buffers that are not persistent lie among the constants.
const json& ExportedTensors::payload(const std::string& name, std::string& record) const {
  for (const auto& [list, folder] : {std::pair(&weights_, kWeights), {&constants_, kConstants}}) {
    const auto found = list->find(name);
    if (found == list->end()) continue;
    if (!found->is_object() || !found->contains("path_name") || !found->at("path_name").is_string()) break;
    record = folder + found->at("path_name").get<std::string>();
    return *found;
  }
  archive_.file().refuse(
      fmt::format("has no values of the tensor {}; save it again with torch.export.save", quoted_text(name)));
}

torch::Tensor ExportedTensors::make(const json& payload, const std::string& record) {
  if (payload.at("use_pickle").get<bool>()) {
    throw std::runtime_error(
        "it is a Python pickle (a tensor subclass or custom object), which is not read here");
  }
  const TensorMeta meta = tensor_meta(payload.at("tensor_meta"));
  const std::vector<int64_t> sizes = known_sizes(meta.sizes), strides = known_sizes(meta.strides);
  const int64_t offset = known_sizes({meta.storage_offset}).front();
  const size_t needed = reached_bytes(sizes, strides, offset, c10::elementSize(meta.dtype));
  const c10::Storage& bytes = storage(record);
  if (needed > bytes.nbytes()) {
    throw std::runtime_error(fmt::format("its record {} has {} bytes, its sizes need {}", quoted_text(record),
                                         bytes.nbytes(), needed));
  }
  const c10::AutoGradMode no_grad(false);
  torch::Tensor tensor = at::empty({0}, torch::TensorOptions(device_).dtype(meta.dtype));
  if (needed > 0) {
    tensor.set_(bytes, offset, sizes, strides);
  } else {
    tensor = at::empty(sizes, tensor.options());
  }
  const bool trained = payload.at("is_param").get<bool>() && meta.requires_grad;
  if (trained) tensor.set_requires_grad(true);
  return tensor;
}

c10::Storage ExportedTensors::storage(const std::string& record) {
  const auto known = storages_.find(record);
  if (known != storages_.end()) return known->second;
  auto [data, size] = archive_.bytes(record);
  c10::Storage made(c10::Storage::use_byte_size_t(), size, std::move(data));
  if (!device_.is_cpu()) {
    const torch::Tensor bytes =
        at::empty({0}, torch::kByte).set_(made, 0, {static_cast<int64_t>(size)}, {1}).to(device_);
    made = bytes.storage();
  }
  return storages_.emplace(record, std::move(made)).first->second;
}

}  // namespace flopmark
