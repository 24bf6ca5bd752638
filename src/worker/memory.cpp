#include "worker/memory.h"

#include <ATen/DeviceAccelerator.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "hardware/cgroup_limits.h"

namespace flopmark {
namespace {

/// A "Key:  123 kB" line of a /proc file, in bytes.
std::optional<int64_t> proc_bytes(const KernelFiles& files, const std::string& file, const std::string& key) {
  std::istringstream in(files.text(file));
  std::string line;
  while (std::getline(in, line)) {
    if (line.rfind(key + ":", 0) == 0) {
      return std::stoll(line.substr(key.size() + 1)) * 1024;
    }
  }
  return std::nullopt;
}

}  // namespace

void MemoryWatch::forget_host_peak() {
  std::ofstream("/proc/self/clear_refs")
      << "5";  // resets VmHWM; where not allowed the peak covers the whole launch
}

void MemoryWatch::reset() {
  load_host_bytes_ = proc_bytes({}, "proc/self/status", "VmHWM");
  forget_host_peak();
  if (!device_.is_cpu()) {
    at::accelerator::resetPeakStats(device_.index());
  }
}

MemorySamples MemoryWatch::read() const {
  MemorySamples memory;
  memory.host_bytes = proc_bytes({}, "proc/self/status", "VmHWM");
  memory.load_host_bytes = load_host_bytes_;
  if (!device_.is_cpu()) {
    const auto stats = at::accelerator::getDeviceStats(device_.index());
    memory.allocated_bytes = stats.allocated_bytes[0].peak;
    memory.reserved_bytes = stats.reserved_bytes[0].peak;
    const auto [free, total] = at::accelerator::getMemoryInfo(device_.index());
    memory.device_used_bytes = static_cast<int64_t>(total - free);
  }
  return memory;
}

std::optional<int64_t> available_memory_bytes(const KernelFiles& files) {
  const auto of_host = proc_bytes(files, "proc/meminfo", "MemAvailable");
  const auto of_groups = cgroup_limits(files).memory_free_bytes;
  return of_host && of_groups ? std::min(*of_host, *of_groups) : of_host;
}

std::string free_memory_text() {
  const auto available = available_memory_bytes();
  std::ostringstream text;
  text << "host memory available: ";
  if (available) {
    text << *available << " bytes";
  } else {
    text << "not known";
  }
  return text.str();
}

}  // namespace flopmark
