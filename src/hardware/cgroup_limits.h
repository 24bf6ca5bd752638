#pragma once

#include <cstdint>
#include <optional>

#include "hardware/kernel_files.h"

namespace flopmark {

/// What the control groups of this process let it use. Absent where there is no limit, or none can be read.
struct CgroupLimits {
  std::optional<double> cpus;  ///< CPU seconds per second
  std::optional<int64_t> memory_bytes;
  std::optional<int64_t> memory_free_bytes;  ///< up to the nearest limit; cached files can be let go of
};

/// The tightest limit of the process's own group and those around it, of version 2 (cpu.max, memory.max) and
/// version 1 (cpu.cfs_quota_us, memory.limit_in_bytes), and what is in use there: Linux's
/// Documentation/admin-guide/cgroup-v2.rst, cgroup-v1/memory.rst, scheduler/sched-bwc.rst.
CgroupLimits cgroup_limits(const KernelFiles& files);

}  // namespace flopmark
