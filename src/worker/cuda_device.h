#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "hardware/nvml.h"

namespace flopmark {

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

}  // namespace flopmark
