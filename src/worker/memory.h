#pragma once

#include <torch/types.h>

#include "hardware/kernel_files.h"
#include "measure/samples.h"

namespace flopmark {

/// Peak memory from a point on: the allocator's on an accelerator, the resident set's on a CPU.
class MemoryWatch {
 public:
  explicit MemoryWatch(const torch::Device& device) : device_(device) {}
  /// Forgets the host's peak so far, so that the load-time peak begins here.
  static void forget_host_peak();
  /// Forgets the peaks so far (load and warm-up); keeps the host's as the load-time peak.
  void reset();
  /// Peaks since reset(), bytes. What this system cannot tell is absent.
  MemorySamples read() const;

 private:
  torch::Device device_;
  std::optional<int64_t> load_host_bytes_;
};

/// Host memory that can be had without swapping and within the limits of this process's control groups;
/// absent where the system does not say.
std::optional<int64_t> available_memory_bytes(const KernelFiles& files = {});

/// Memory this process can still get, in words, for an out-of-memory message.
std::string free_memory_text();

}  // namespace flopmark
