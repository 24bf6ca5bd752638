#include "hardware/nvml.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

namespace flopmark {
namespace {

constexpr std::array kThrottleReasons{
    ThrottleReason{0x001, "gpu_idle", false},
    ThrottleReason{0x002, "applications_clocks_setting", false},
    ThrottleReason{0x004, "sw_power_cap", true},
    ThrottleReason{0x008, "hw_slowdown", true},
    ThrottleReason{0x010, "sync_boost", true},
    ThrottleReason{0x020, "sw_thermal_slowdown", true},
    ThrottleReason{0x040, "hw_thermal_slowdown", true},
    ThrottleReason{0x080, "hw_power_brake_slowdown", true},
    ThrottleReason{0x100, "display_clock_setting", false},
};

constexpr size_t kDomainDigits = 8;

/// "0000:0a:00.0" (CUDA, sysfs) as NVML writes it: "00000000:0A:00.0".
std::string nvml_bus_id(std::string bus_id) {
  std::transform(bus_id.begin(), bus_id.end(), bus_id.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::toupper(letter)); });
  const size_t domain = bus_id.find(':');
  if (domain < kDomainDigits) bus_id.insert(0, kDomainDigits - domain, '0');
  return bus_id;
}

template <typename T>
void take(std::optional<T>& field, const std::optional<T>& value) {
  if (value) field = value;
}

}  // namespace

std::span<const ThrottleReason> throttle_reasons() {
  return kThrottleReasons;
}

std::unique_ptr<NvmlDevice> find_device(Nvml& nvml, const DeviceAddress& address) {
  if (address.uuid) {
    for (const char* prefix : {"GPU-", "MIG-"}) {
      if (auto device = nvml.device_by_uuid(prefix + *address.uuid)) return device;
    }
  }
  return address.pci_bus_id ? nvml.device_by_pci_bus_id(nvml_bus_id(*address.pci_bus_id)) : nullptr;
}

void add_device_facts(Environment& environment, const NvmlFacts& facts) {
  take(environment.device_uuid, facts.uuid);
  take(environment.device_pci_bus_id, facts.pci_bus_id);
  take(environment.mig, facts.mig);
  take(environment.mig_profile, facts.mig_profile);
  take(environment.ecc, facts.ecc);
  take(environment.persistence_mode, facts.persistence_mode);
  take(environment.device_memory_bytes, facts.memory_bytes);
  take(environment.device_max_clock_hz, facts.max_clock_hz);
  take(environment.device_max_memory_clock_hz, facts.max_memory_clock_hz);
  take(environment.device_application_clock_hz, facts.application_clock_hz);
  take(environment.device_power_limit_w, facts.power_limit_w);
}

}  // namespace flopmark
