#include <ATen/Context.h>
#include <fmt/format.h>

#include <optional>
#include <string>

#include "flopmark/error.h"
#include "train/torch_step.h"

namespace flopmark {
namespace {

struct Precision {
  const char* name;
  torch::Dtype parameters;
  const char* matmul;  ///< the peak row
  std::optional<torch::Dtype> autocast = std::nullopt;
};

constexpr Precision kPrecisions[] = {
    {"fp32", torch::kFloat, "fp32"},
    {"tf32", torch::kFloat, "tf32"},
    {"bf16-mixed", torch::kFloat, "bf16", torch::kBFloat16},
    {"bf16", torch::kBFloat16, "bf16"},
    {"fp16-mixed", torch::kFloat, "fp16", torch::kHalf},
};

const Precision& find_precision(const std::string& name) {
  std::string known;
  for (const auto& precision : kPrecisions) {
    if (name == precision.name) {
      return precision;
    }
    known += (known.empty() ? "" : ", ") + std::string(precision.name);
  }
  throw usage_error(fmt::format("train.precision: unknown \"{}\"; known are {}", name, known));
}

void allow_attention_kernels(const std::string& kernel) {
  if (kernel != "auto" && kernel != "fused" && kernel != "unfused") {
    throw usage_error(
        fmt::format("train.attention_kernel: unknown \"{}\"; known are auto, fused, unfused", kernel));
  }
  auto& context = at::globalContext();
  const bool fused = kernel != "unfused";
  context.setSDPUseFlash(fused);
  context.setSDPUseMemEfficient(fused);
  context.setSDPUseCuDNN(fused);
  context.setSDPUseMath(kernel != "fused");
}

}  // namespace

torch::Dtype parameter_dtype(const std::string& precision) {
  return find_precision(precision).parameters;
}

std::string matmul_precision(const std::string& precision) {
  return find_precision(precision).matmul;
}

AutocastOptions autocast_options(const std::string& precision, torch::DeviceType device) {
  const auto dtype = find_precision(precision).autocast;
  return {.device = device, .enabled = dtype.has_value(), .dtype = dtype.value_or(torch::kBFloat16)};
}

bool scales_loss(const std::string& precision) {
  return find_precision(precision).autocast == torch::kHalf;
}

void apply_precision(const TrainConfig& train, const torch::Device& device) {
  const bool tf32 = matmul_precision(train.precision) == "tf32";
  if (tf32 && !device.is_cuda()) {
    throw usage_error(fmt::format(
        "train.precision: \"tf32\" needs a CUDA device, but the device is {}; use fp32", device.str()));
  }
  auto& context = at::globalContext();
  // cuDNN allows TF32 unless told otherwise: "fp32" must mean it for convolutions too.
  context.setAllowTF32CuBLAS(tf32);
  context.setAllowTF32CuDNN(tf32);
  context.setDeterministicAlgorithms(false, false);
  context.setDeterministicCuDNN(false);
  allow_attention_kernels(train.attention_kernel);
}

}  // namespace flopmark
