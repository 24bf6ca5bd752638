#include "worker/device_facts.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <torch/version.h>

#include "hardware/environment.h"

namespace flopmark {
namespace {

#ifdef FLOPMARK_CUDA
/// 90501 -> "9.5.1", as cuDNN 9 writes its version.
std::string cudnn_version_text(int64_t version) {
  return std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
         std::to_string(version % 100);
}
#endif

}  // namespace

std::string cuda_runtime_version() {
#ifdef FLOPMARK_CUDA
  const int64_t version = at::detail::getCUDAHooks().versionCUDART();  // 13020 is 13.2
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
#else
  return "";
#endif
}

Environment worker_environment([[maybe_unused]] const torch::Device& device) {
  Environment environment;
  environment.device_name = host_environment().cpu_model;
  environment.libtorch = TORCH_VERSION;
  environment.threads = at::get_num_threads();
  environment.compiler = "gcc " __VERSION__ " (" FLOPMARK_BUILD_FLAGS ")";
#ifdef FLOPMARK_CUDA
  if (device.is_cuda()) {
    environment.device_name = cuda_device_name(device.index());
    const CudaUnits units = cuda_units(device.index());
    environment.sm_count = units.sm_count;
    environment.sm_clock_hz = units.sm_clock_hz;
    environment.cuda = cuda_runtime_version();
    environment.cudnn = cudnn_version_text(at::detail::getCUDAHooks().versionRuntimeCuDNN());
  }
#endif
  return environment;
}

}  // namespace flopmark
