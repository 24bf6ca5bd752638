#pragma once

#include <cstdint>
#include <string>

#include "flopmark/record.h"
#include "hardware/kernel_files.h"

namespace flopmark {

/// What this process can tell of the machine without LibTorch: CPUs (model, which it may use, clock,
/// governor, turbo, SMT), memory, NUMA nodes, control group limits, container, OS and kernel, and the
/// speed-changing variables that are set (OMP_*, MKL_*, TORCH_*, NCCL_*, CUDA_*, ...: see host_facts.h).
/// Never fails; unknown is absent.
Environment host_environment(const KernelFiles& files = {});

/// `worker`'s facts over `host`'s; the device count is the worker's.
Environment merge_environment(const Environment& host, const Environment& worker);

/// `environment` of one rank as that of a job of `ranks` (>= 1), each on a device of its own.
Environment of_ranks(Environment environment, int64_t ranks);

/// Folder name for a store: "<count>x-<slug of the device name>", of the CPU model where the device has no
/// name; [a-z0-9.-] only, at most 64 characters (a longer one is cut and ends in a hash of the whole name).
std::string hardware_slug(const Environment& environment);

}  // namespace flopmark
