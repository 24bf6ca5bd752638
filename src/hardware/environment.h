#pragma once

#include <string>

#include "flopmark/record.h"

namespace flopmark {

/// What this process can tell of the machine without LibTorch: CPU model, logical CPUs usable, OS, governor,
/// speed-changing variables (OMP_*, MKL_*, KMP_*, TORCH_*, PYTORCH_*, NCCL_*, CUDA_*, GOMP_*, ATEN_*). Never fails; unknown is absent.
Environment host_environment();

/// `worker`'s facts over `host`'s.
Environment merge_environment(const Environment& host, const Environment& worker);

/// Folder name for a store: "<count>x-<slug of the device name>", [a-z0-9.-] only, at most 64 characters.
std::string hardware_slug(const Environment& environment);

}  // namespace flopmark
