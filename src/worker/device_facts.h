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
