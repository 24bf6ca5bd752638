#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "flopmark/record.h"

namespace flopmark {

/// How a CUDA device is told from others whatever CUDA_VISIBLE_DEVICES says; unknown is absent.
struct DeviceAddress {
  std::optional<std::string> uuid;        ///< 8-4-4-4-12 hex digits, without GPU- or MIG- before them
  std::optional<std::string> pci_bus_id;  ///< domain:bus:device.function; a MIG instance has its board's
};

/// What does not change while a job runs. Each field is absent where NVML does not give it.
struct NvmlFacts {
  std::optional<std::string> uuid, pci_bus_id, name;
  std::optional<std::string> mig_profile;  ///< such as 3g.20gb, of a MIG instance
  std::optional<bool> mig, ecc, persistence_mode;
  std::optional<int64_t> memory_bytes;  ///< total, of the instance where it is one
  std::optional<double> max_clock_hz, max_memory_clock_hz, application_clock_hz;  ///< SM, memory, SM
  std::optional<double> power_limit_w;                                            ///< enforced
};

/// One look at the sensors. On a MIG instance all but the memory are the whole board's.
struct NvmlReading {
  std::optional<double> clock_hz, memory_clock_hz;  ///< SM, memory
  std::optional<double> power_w, temperature_c;     ///< temperature in whole degrees, of the die
  std::optional<uint64_t> throttle_reasons;         ///< bits: see throttle_reasons()
  std::optional<double> energy_j;                   ///< since the driver was loaded
  std::optional<int64_t> memory_used_bytes;
};

/// A process with a compute context on the device. `pid` is of the driver's choice of namespace: in a
/// container it may be the host's.
struct NvmlProcess {
  int64_t pid = 0;
  std::optional<int64_t> memory_bytes = std::nullopt;
  std::optional<double> busy_ratio = std::nullopt;  ///< of the last sampling period: its kernels ran
};

/// One device or MIG instance. Not for several threads at a time.
class NvmlDevice {
 public:
  virtual ~NvmlDevice() = default;
  virtual NvmlFacts facts() = 0;
  /// Allocates nothing of ours.
  virtual NvmlReading read() = 0;
  /// Fills `processes` from its start and returns how many there are, which may be more than it holds;
  /// absent where NVML does not say. Allocates nothing of ours.
  virtual std::optional<size_t> list_processes(std::span<NvmlProcess> processes) = 0;
};

/// The NVIDIA Management Library, as far as it is used here. Devices keep it open.
class Nvml {
 public:
  virtual ~Nvml() = default;
  virtual std::optional<std::string> driver_version() = 0;
  /// By "GPU-..." or "MIG-..."; null if there is none.
  virtual std::unique_ptr<NvmlDevice> device_by_uuid(const std::string& uuid) = 0;
  /// By "00000000:65:00.0"; null if there is none.
  virtual std::unique_ptr<NvmlDevice> device_by_pci_bus_id(const std::string& pci_bus_id) = 0;
};

/// The device at `address`, never another one: by UUID (a GPU's or a MIG instance's), else by PCI bus id;
/// null if NVML knows neither.
std::unique_ptr<NvmlDevice> find_device(Nvml& nvml, const DeviceAddress& address);

/// Opens `library`. Null where it is missing, too old to find devices with, or finds no driver; `reason` then
/// says so in a sentence. Whatever else it lacks makes single fields absent.
std::shared_ptr<Nvml> open_nvml(const std::string& library, std::string& reason);
inline constexpr const char* kNvmlLibrary = "libnvidia-ml.so.1";

/// Reasons for the present clock, named as nvidia-smi names them. `slows` marks those that hold the clock
/// below what was asked for; the others say what sets it (idle, settings).
struct ThrottleReason {
  uint64_t bit;
  const char* name;
  bool slows;
};
/// From nvml.h, nvmlClocksEventReason* (before NVML 12.2 nvmlClocksThrottleReason*).
std::span<const ThrottleReason> throttle_reasons();

/// Writes what NVML knows of the device and its driver into `environment`; what it does not know is left.
void add_device_facts(Environment& environment, const NvmlFacts& facts);

}  // namespace flopmark
