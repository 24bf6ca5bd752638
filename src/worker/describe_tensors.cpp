#include "worker/describe_tensors.h"

#include <nlohmann/json.hpp>

#include "data/tensor_file.h"
#include "flopmark/error.h"

namespace flopmark {
namespace {

/// PyTorch's own names in lower case, such as float32 of c10's Float.
const char* dtype_name(torch::Dtype dtype) {
  switch (dtype) {
    case torch::kFloat16:
      return "float16";
    case torch::kFloat32:
      return "float32";
    case torch::kFloat64:
      return "float64";
    case torch::kBFloat16:
      return "bfloat16";
    case torch::kBool:
      return "bool";
    case torch::kUInt8:
      return "uint8";
    case torch::kInt8:
      return "int8";
    case torch::kInt16:
      return "int16";
    case torch::kInt32:
      return "int32";
    case torch::kInt64:
      return "int64";
    default:
      return "unknown";
  }
}

nlohmann::json facts_of(const NamedTensor& entry) {
  const torch::Tensor& tensor = entry.tensor;
  nlohmann::json facts = {{"name", entry.name},
                          {"dtype", dtype_name(tensor.scalar_type())},
                          {"shape", tensor.sizes().vec()},
                          {"low", nullptr},
                          {"high", nullptr}};
  if (c10::isIntegralType(tensor.scalar_type(), /*includeBool=*/false) && tensor.numel() > 0) {
    facts["low"] = tensor.min().item<int64_t>();
    facts["high"] = tensor.max().item<int64_t>();
  }
  return facts;
}

}  // namespace

std::string describe_tensors(const std::string& path) {
  nlohmann::json answer;
  try {
    answer["tensors"] = nlohmann::json::array();
    for (const NamedTensor& entry : read_tensor_file(MappedFile(path))) {
      answer["tensors"].push_back(facts_of(entry));
    }
  } catch (const Error& error) {
    answer = {{"error", error.what()}};
  } catch (const std::exception& error) {  // no memory, above all
    const std::string text = error.what();
    answer = {{"error", path + ": " + text.substr(0, text.find('\n'))}};
  }
  return answer.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace flopmark
