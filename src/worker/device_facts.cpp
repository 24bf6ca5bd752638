#include "worker/device_facts.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/Version.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <torch/version.h>

#include "hardware/build_facts.h"
#include "hardware/environment.h"
#include "worker/cuda_device.h"

namespace flopmark {
namespace {

#if defined(NDEBUG) && defined(__OPTIMIZE__)
constexpr bool kDebugBuild = false;
#else
constexpr bool kDebugBuild = true;
#endif

#ifdef FLOPMARK_CUDA
/// 90501 -> "9.5.1", as cuDNN 9 writes its version.
std::string cudnn_version_text(int64_t version) {
  return std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
         std::to_string(version % 100);
}

/// Opened once: starting NVML takes tens of milliseconds. Null where there is none.
std::shared_ptr<Nvml> nvml() {
  static std::string reason;
  static const std::shared_ptr<Nvml> kOpened = open_nvml(kNvmlLibrary, reason);
  return kOpened;
}

/// The device's settings and the driver, as NVML gives them.
void add_cuda_facts(Environment& environment, const torch::Device& device) {
  const CudaDevice cuda = cuda_device(device.index());
  environment.device_name = cuda.name;
  environment.device_pci_bus_id = cuda.address.pci_bus_id;
  environment.sm_count = cuda.sm_count;
  environment.sm_clock_hz = cuda.sm_clock_hz;
  environment.cuda = cuda_runtime_version();
  environment.cudnn = cudnn_version_text(at::detail::getCUDAHooks().versionRuntimeCuDNN());
  environment.cudnn_benchmark = at::globalContext().benchmarkCuDNN();
  environment.nccl = nccl_version();
  if (const auto opened = nvml()) environment.driver = opened->driver_version();
  if (const auto sensors = sensors_of(device)) add_device_facts(environment, sensors->facts());
}
#endif

}  // namespace

std::unique_ptr<NvmlDevice> sensors_of([[maybe_unused]] const torch::Device& device) {
#ifdef FLOPMARK_CUDA
  if (const auto opened = nvml(); opened && device.is_cuda()) {
    return find_device(*opened, cuda_device(device.index()).address);
  }
#endif
  return nullptr;
}

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
  const Environment host = host_environment();
  environment.device_name = host.cpu_model;
  environment.cpu_logical = host.cpu_logical;
  environment.variables = host.variables;  // a front-end may have added some to its own
  environment.libtorch = TORCH_VERSION;
  environment.threads = at::get_num_threads();
  environment.compiler = "gcc " __VERSION__ " (" FLOPMARK_BUILD_FLAGS ")";
  environment.worker_debug = kDebugBuild;
  environment.libtorch_build = build_type_of(at::show_config());
  environment.sanitizers = sanitizers_here();
#ifdef FLOPMARK_CUDA
  if (device.is_cuda()) add_cuda_facts(environment, device);
#endif
  return environment;
}

}  // namespace flopmark
