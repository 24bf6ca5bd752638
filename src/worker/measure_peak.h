#pragma once

#include <filesystem>
#include <memory>

#include <torch/types.h>

#include "measure/matmul_search.h"
#include "measure/samples.h"
#include "measure/step_loop.h"

namespace flopmark {

/// Matrix products of LibTorch on a device, in fp64, fp32, tf32 (CUDA only), bf16 or fp16.
std::unique_ptr<MatmulKernel> make_matmul_kernel(const torch::Device& device);

/// `flopmark peak --measure`: searches the best sustained rate of each precision. `file` is a JSON object
/// with device (auto, cpu, cuda, cuda:N), threads (0: all usable cores), seconds and precisions (empty: those
/// that training mostly uses on this device). The result is in matmul_rates; status incomplete if
/// `state.stop` was set.
/// @throws Error 200 for a device or precision that is not here.
LaunchSamples measure_peak(const std::filesystem::path& file, LoopState& state);

}  // namespace flopmark
