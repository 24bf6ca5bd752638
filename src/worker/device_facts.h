#pragma once

#include <torch/types.h>

#include <optional>

#include "flopmark/record.h"

namespace flopmark {

/// What only this process knows: device name, LibTorch, CUDA and cuDNN versions, threads, compiler and flags.
Environment worker_environment(const torch::Device& device);

/// Version of the CUDA runtime, such as 13.2; empty without CUDA.
std::string cuda_runtime_version();

/// Name of a CUDA device as the driver gives it. Defined where LibTorch's CUDA libraries are linked.
std::string cuda_device_name(int index);

/// Streaming multiprocessors and highest clock of a CUDA device, as the driver gives them; absent where it
/// does not. Defined as above.
struct CudaUnits {
  std::optional<int64_t> sm_count;
  std::optional<double> sm_clock_hz;
};
CudaUnits cuda_units(int index);

}  // namespace flopmark
