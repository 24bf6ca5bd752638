#include "worker/measure_peak.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/randn.h>
#include <c10/core/InferenceMode.h>
#include <fmt/format.h>

#include <fstream>

#include "flopmark/error.h"
#include "measure/host_marker.h"
#include "train/device_marker.h"
#include "train/torch_step.h"
#include "worker/device_facts.h"

namespace flopmark {
namespace {

class TorchMatmul : public MatmulKernel {
 public:
  explicit TorchMatmul(const torch::Device& device) : device_(device), marker_(make_marker(device, clock_)) {}

  void prepare(const std::string& precision, const MatmulShape& shape) override {
    at::globalContext().setAllowTF32CuBLAS(precision == "tf32");
    const auto options = torch::TensorOptions(device_).dtype(dtype_of(precision));
    a_ = at::randn({shape.m, shape.k}, options);
    b_ = at::randn({shape.k, shape.n}, options);
    product_ = at::empty({shape.m, shape.n}, options);
    marker_->synchronize();
  }
  void run(int64_t calls) override {
    const c10::InferenceMode no_gradients;
    for (int64_t call = 0; call < calls; ++call) at::mm_out(product_, a_, b_);
    marker_->synchronize();
  }

 private:
  static torch::Dtype dtype_of(const std::string& precision) {
    if (precision == "fp64") return torch::kDouble;
    if (precision == "fp16") return torch::kHalf;
    return precision == "bf16" ? torch::kBFloat16 : torch::kFloat;
  }

  torch::Device device_;
  SteadyClock clock_;
  std::unique_ptr<Marker> marker_;
  torch::Tensor a_, b_, product_;
};

/// What training mostly multiplies in on this device: measured unless told otherwise.
std::vector<std::string> usual_precisions(const torch::Device& device) {
  if (device.is_cpu()) return {"fp32", "bf16"};
  return {"fp32", "tf32", "bf16", "fp16"};
}

void check_precisions(const std::vector<std::string>& wanted, const torch::Device& device) {
  const std::string known = device.is_cuda() ? "fp64 fp32 tf32 bf16 fp16" : "fp64 fp32 bf16 fp16";
  for (const std::string& precision : wanted) {
    if ((" " + known + " ").find(" " + precision + " ") != std::string::npos) continue;
    throw usage_error(fmt::format("--precision: \"{}\" is not measured on {}; known are {}", precision,
                                  device.str(), known));
  }
}

}  // namespace

std::unique_ptr<MatmulKernel> make_matmul_kernel(const torch::Device& device) {
  return std::make_unique<TorchMatmul>(device);
}

LaunchSamples measure_peak(const std::filesystem::path& file, LoopState& state) {
  std::ifstream in(file);
  const nlohmann::json request = nlohmann::json::parse(in);
  const torch::Device device = resolve_device(request.at("device"));
  if (const int threads = request.at("threads"); threads > 0) at::set_num_threads(threads);
  MatmulSearchOptions options;
  options.seconds = request.at("seconds");
  options.precisions = request.at("precisions");
  check_precisions(options.precisions, device);
  if (options.precisions.empty()) options.precisions = usual_precisions(device);

  const auto kernel = make_matmul_kernel(device);
  SteadyClock clock;
  state.stage.store(LoopState::Stage::timed);
  LaunchSamples samples;
  samples.environment = worker_environment(device);
  samples.matmul_rates = search_matmul_rates(*kernel, clock, options, state.step, state.stop);
  samples.status = state.stop.load() ? "incomplete" : "ok";
  state.step.store(0);
  state.stage.store(LoopState::Stage::save);
  return samples;
}

}  // namespace flopmark
