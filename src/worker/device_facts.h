#pragma once

#include <torch/types.h>

#include <memory>
#include <optional>
#include <string>

#include "flopmark/record.h"
#include "hardware/nvml.h"
#include "measure/temperature_watch.h"

namespace flopmark {

/// What only this process knows: the device in use and, from NVML, its settings; LibTorch, CUDA, cuDNN, NCCL
/// and driver versions, threads, compiler and flags.
Environment worker_environment(const torch::Device& device);

/// Version of the CUDA runtime, such as 13.2; empty without CUDA.
std::string cuda_runtime_version();

/// A CUDA device as its driver gives it: CUDA_VISIBLE_DEVICES and MIG are already in the index.
struct CudaDevice {
  std::string name;
  DeviceAddress address;
  std::optional<int64_t> sm_count;    ///< streaming multiprocessors; absent where the driver does not say
  std::optional<double> sm_clock_hz;  ///< the highest it allows
};
/// Defined where LibTorch's CUDA libraries are linked.
CudaDevice cuda_device(int index);

/// Version of the NCCL library in this process, such as 2.27.3; absent if there is none. Defined where
/// LibTorch's CUDA libraries are linked.
std::optional<std::string> nccl_version();

/// NVML's device that is `device`; null for a CPU, without NVML, and where NVML does not know it.
std::unique_ptr<NvmlDevice> sensors_of(const torch::Device& device);

/// A device's temperature. The device must outlive it.
class DeviceThermometer : public Thermometer {
 public:
  explicit DeviceThermometer(NvmlDevice& device) : device_(device) {}
  std::optional<double> temperature_c() override { return device_.read().temperature_c; }

 private:
  NvmlDevice& device_;
};

}  // namespace flopmark
