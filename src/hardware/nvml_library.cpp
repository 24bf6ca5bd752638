// Own declarations of the few functions used, so that no CUDA header is needed. Types, names and constants
// are those of NVIDIA's nvml.h (NVML API reference guide; the header is in github.com/NVIDIA/go-nvml,
// gen/nvml).
#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "hardware/nvml.h"

namespace flopmark {
namespace {

using Handle = struct nvmlDevice_st*;
using Return = int;  // nvmlReturn_t

constexpr Return kSuccess = 0;           // NVML_SUCCESS
constexpr Return kNotFound = 6;          // NVML_ERROR_NOT_FOUND
constexpr Return kInsufficientSize = 7;  // NVML_ERROR_INSUFFICIENT_SIZE
constexpr int kClockSm = 1;              // NVML_CLOCK_SM
constexpr int kClockMemory = 2;          // NVML_CLOCK_MEM
constexpr int kTemperatureDie = 0;       // NVML_TEMPERATURE_GPU
constexpr unsigned kTextBytes = 96;      // NVML_DEVICE_NAME_V2_BUFFER_SIZE, NVML_DEVICE_UUID_V2_BUFFER_SIZE
constexpr auto kNotAvailable = ~0ULL;    // NVML_VALUE_NOT_AVAILABLE
constexpr unsigned kMostProcesses = 64;  // more than one device ever serves
constexpr double kHzPerMhz = 1e6, kWattPerMilliwatt = 1e-3, kJoulePerMillijoule = 1e-3;

struct MemoryInfo {  // nvmlMemory_t
  unsigned long long total, free, used;
};
struct PciInfo {  // nvmlPciInfo_t, of nvmlDeviceGetPciInfo_v3
  char bus_id_legacy[16];
  unsigned domain, bus, device, pci_device_id, pci_subsystem_id;
  char bus_id[32];
};
struct ProcessInfo {  // nvmlProcessInfo_v2_t, of nvmlDeviceGetComputeRunningProcesses _v2 and _v3
  unsigned pid;
  unsigned long long used_gpu_memory;
  unsigned gpu_instance_id, compute_instance_id;
};
struct UtilizationSample {  // nvmlProcessUtilizationSample_t
  unsigned pid;
  unsigned long long time_us;
  unsigned sm_percent, memory_percent, encoder_percent, decoder_percent;
};
static_assert(sizeof(PciInfo) == 68 && sizeof(ProcessInfo) == 24 && sizeof(UtilizationSample) == 32);

/// The functions used. All but those of `kNeeded` may be missing: the library of an older driver.
struct Functions {
  Return (*init)() = nullptr;
  Return (*shutdown)() = nullptr;
  Return (*driver_version)(char*, unsigned) = nullptr;
  Return (*by_uuid)(const char*, Handle*) = nullptr;
  Return (*by_bus_id)(const char*, Handle*) = nullptr;
  Return (*is_mig)(Handle, unsigned*) = nullptr;
  Return (*board_of_mig)(Handle, Handle*) = nullptr;
  Return (*name)(Handle, char*, unsigned) = nullptr;
  Return (*uuid)(Handle, char*, unsigned) = nullptr;
  Return (*pci)(Handle, PciInfo*) = nullptr;
  Return (*mig_mode)(Handle, unsigned*, unsigned*) = nullptr;
  Return (*ecc)(Handle, int*, int*) = nullptr;
  Return (*persistence)(Handle, int*) = nullptr;
  Return (*memory)(Handle, MemoryInfo*) = nullptr;
  Return (*clock)(Handle, int, unsigned*) = nullptr;
  Return (*max_clock)(Handle, int, unsigned*) = nullptr;
  Return (*application_clock)(Handle, int, unsigned*) = nullptr;
  Return (*power_limit)(Handle, unsigned*) = nullptr;
  Return (*power)(Handle, unsigned*) = nullptr;
  Return (*temperature)(Handle, int, unsigned*) = nullptr;
  Return (*reasons)(Handle, unsigned long long*) = nullptr;
  Return (*energy)(Handle, unsigned long long*) = nullptr;
  Return (*processes)(Handle, unsigned*, ProcessInfo*) = nullptr;
  Return (*utilization)(Handle, UtilizationSample*, unsigned*, unsigned long long) = nullptr;
};

/// The first of `names` that the library has: a function's newest version comes first.
template <typename Function>
void look_up(void* library, Function& function, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (void* found = ::dlsym(library, name)) {
      function = reinterpret_cast<Function>(found);
      return;
    }
  }
}

Functions functions_of(void* library) {
  Functions f;
  look_up(library, f.init, {"nvmlInit_v2", "nvmlInit"});
  look_up(library, f.shutdown, {"nvmlShutdown"});
  look_up(library, f.driver_version, {"nvmlSystemGetDriverVersion"});
  look_up(library, f.by_uuid, {"nvmlDeviceGetHandleByUUID"});
  look_up(library, f.by_bus_id, {"nvmlDeviceGetHandleByPciBusId_v2", "nvmlDeviceGetHandleByPciBusId"});
  look_up(library, f.is_mig, {"nvmlDeviceIsMigDeviceHandle"});
  look_up(library, f.board_of_mig, {"nvmlDeviceGetDeviceHandleFromMigDeviceHandle"});
  look_up(library, f.name, {"nvmlDeviceGetName"});
  look_up(library, f.uuid, {"nvmlDeviceGetUUID"});
  look_up(library, f.pci, {"nvmlDeviceGetPciInfo_v3"});
  look_up(library, f.mig_mode, {"nvmlDeviceGetMigMode"});
  look_up(library, f.ecc, {"nvmlDeviceGetEccMode"});
  look_up(library, f.persistence, {"nvmlDeviceGetPersistenceMode"});
  look_up(library, f.memory, {"nvmlDeviceGetMemoryInfo"});
  look_up(library, f.clock, {"nvmlDeviceGetClockInfo"});
  look_up(library, f.max_clock, {"nvmlDeviceGetMaxClockInfo"});
  look_up(library, f.application_clock, {"nvmlDeviceGetApplicationsClock"});
  look_up(library, f.power_limit, {"nvmlDeviceGetEnforcedPowerLimit"});
  look_up(library, f.power, {"nvmlDeviceGetPowerUsage"});
  look_up(library, f.temperature, {"nvmlDeviceGetTemperature"});
  look_up(library, f.reasons,
          {"nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons"});
  look_up(library, f.energy, {"nvmlDeviceGetTotalEnergyConsumption"});
  look_up(library, f.processes,
          {"nvmlDeviceGetComputeRunningProcesses_v3", "nvmlDeviceGetComputeRunningProcesses_v2"});
  look_up(library, f.utilization, {"nvmlDeviceGetProcessUtilization"});
  return f;
}

/// The opened library; closed and shut down with its last user.
struct OpenLibrary {
  explicit OpenLibrary(void* opened) : library(opened), f(functions_of(opened)) {}
  ~OpenLibrary() {
    if (initialized && f.shutdown) f.shutdown();
    ::dlclose(library);
  }
  OpenLibrary(const OpenLibrary&) = delete;
  OpenLibrary& operator=(const OpenLibrary&) = delete;

  void* library;
  Functions f;
  bool initialized = false;
};

/// The value that `function` gives; absent if the library lacks it or it answers with anything but success.
template <typename T, typename... Parameters, typename... Arguments>
std::optional<T> ask(Return (*function)(Parameters...), Arguments... arguments) {
  T value{};
  if (!function || function(arguments..., &value) != kSuccess) return std::nullopt;
  return value;
}

template <typename... Parameters, typename... Arguments>
std::optional<std::string> ask_text(Return (*function)(Parameters...), Arguments... arguments) {
  char text[kTextBytes] = "";
  if (!function || function(arguments..., text, kTextBytes) != kSuccess) return std::nullopt;
  text[kTextBytes - 1] = '\0';
  return text[0] == '\0' ? std::nullopt : std::optional<std::string>(text);
}

template <typename T>
std::optional<double> in_si(const std::optional<T>& value, double factor) {
  return value ? std::optional(static_cast<double>(*value) * factor) : std::nullopt;
}

std::optional<bool> as_bool(const std::optional<int>& value) {
  return value ? std::optional(*value != 0) : std::nullopt;
}

/// "NVIDIA A100-SXM4-40GB MIG 3g.20gb" is how NVML names an instance.
std::optional<std::string> mig_profile_of(const std::string& name) {
  constexpr std::string_view kMark = " MIG ";
  const size_t found = name.rfind(kMark);
  return found == std::string::npos ? std::nullopt : std::optional(name.substr(found + kMark.size()));
}

class LibraryDevice : public NvmlDevice {
 public:
  LibraryDevice(std::shared_ptr<OpenLibrary> library, Handle handle)
      : library_(std::move(library)), f_(library_->f), handle_(handle), board_(handle) {
    is_mig_ = ask<unsigned>(f_.is_mig, handle).value_or(0) != 0;
    if (is_mig_) board_ = ask<Handle>(f_.board_of_mig, handle).value_or(handle);
  }

  NvmlFacts facts() override {
    NvmlFacts facts;
    facts.uuid = ask_text(f_.uuid, handle_);
    facts.name = ask_text(f_.name, handle_);
    if (auto pci = ask<PciInfo>(f_.pci, board_)) {
      facts.pci_bus_id.emplace(pci->bus_id, ::strnlen(pci->bus_id, sizeof pci->bus_id));
    }
    facts.mig = mig_enabled();
    if (is_mig_ && facts.name) facts.mig_profile = mig_profile_of(*facts.name);
    facts.ecc = ecc_enabled();
    facts.persistence_mode = as_bool(ask<int>(f_.persistence, board_));
    if (auto memory = ask<MemoryInfo>(f_.memory, handle_)) {
      facts.memory_bytes = static_cast<int64_t>(memory->total);
    }
    facts.max_clock_hz = in_si(ask<unsigned>(f_.max_clock, board_, kClockSm), kHzPerMhz);
    facts.max_memory_clock_hz = in_si(ask<unsigned>(f_.max_clock, board_, kClockMemory), kHzPerMhz);
    facts.application_clock_hz = in_si(ask<unsigned>(f_.application_clock, board_, kClockSm), kHzPerMhz);
    facts.power_limit_w = in_si(ask<unsigned>(f_.power_limit, board_), kWattPerMilliwatt);
    return facts;
  }

  NvmlReading read() override {
    NvmlReading reading;
    reading.clock_hz = in_si(ask<unsigned>(f_.clock, board_, kClockSm), kHzPerMhz);
    reading.memory_clock_hz = in_si(ask<unsigned>(f_.clock, board_, kClockMemory), kHzPerMhz);
    reading.power_w = in_si(ask<unsigned>(f_.power, board_), kWattPerMilliwatt);
    reading.temperature_c = in_si(ask<unsigned>(f_.temperature, board_, kTemperatureDie), 1.0);
    reading.throttle_reasons = ask<unsigned long long>(f_.reasons, board_);
    if (!is_mig_) {  // the board's energy is not this instance's
      reading.energy_j = in_si(ask<unsigned long long>(f_.energy, board_), kJoulePerMillijoule);
    }
    if (auto memory = ask<MemoryInfo>(f_.memory, handle_)) {
      reading.memory_used_bytes = static_cast<int64_t>(memory->used);
    }
    return reading;
  }

  std::optional<size_t> list_processes(std::span<NvmlProcess> processes) override {
    std::array<ProcessInfo, kMostProcesses> infos{};
    unsigned count = kMostProcesses;
    if (!f_.processes) return std::nullopt;
    const Return answer = f_.processes(handle_, &count, infos.data());
    if (answer == kInsufficientSize) return count;
    if (answer != kSuccess) return std::nullopt;
    const size_t listed = std::min({size_t{count}, infos.size(), processes.size()});
    for (size_t i = 0; i < listed; ++i) {
      const ProcessInfo& info = infos[i];
      processes[i] = {.pid = info.pid};
      if (info.used_gpu_memory != kNotAvailable) {
        processes[i].memory_bytes = static_cast<int64_t>(info.used_gpu_memory);
      }
    }
    add_busy_ratios(processes.first(listed));
    return count;
  }

 private:
  std::optional<bool> mig_enabled() const {
    unsigned current = 0, pending = 0;
    if (!f_.mig_mode || f_.mig_mode(board_, &current, &pending) != kSuccess) return std::nullopt;
    return current != 0;
  }
  std::optional<bool> ecc_enabled() const {
    int current = 0, pending = 0;
    if (!f_.ecc || f_.ecc(board_, &current, &pending) != kSuccess) return std::nullopt;
    return current != 0;
  }
  /// Of the time since the last call. A process that did nothing has no sample; on MIG there are none at all.
  void add_busy_ratios(std::span<NvmlProcess> processes) {
    std::array<UtilizationSample, kMostProcesses> samples{};
    unsigned count = kMostProcesses;
    if (!f_.utilization || is_mig_) return;
    const Return answer = f_.utilization(handle_, samples.data(), &count, last_sample_us_);
    if (answer == kNotFound) count = 0;
    if (answer != kSuccess && answer != kNotFound) return;
    for (NvmlProcess& process : processes) process.busy_ratio = 0;
    for (const UtilizationSample& sample : std::span(samples).first(std::min(count, kMostProcesses))) {
      last_sample_us_ = std::max(last_sample_us_, sample.time_us);
      for (NvmlProcess& process : processes) {
        if (process.pid == sample.pid) process.busy_ratio = sample.sm_percent / 100.0;
      }
    }
  }

  std::shared_ptr<OpenLibrary> library_;
  const Functions& f_;
  Handle handle_, board_;
  bool is_mig_ = false;
  unsigned long long last_sample_us_ = 0;
};

class LibraryNvml : public Nvml {
 public:
  explicit LibraryNvml(std::shared_ptr<OpenLibrary> library) : library_(std::move(library)) {}

  std::optional<std::string> driver_version() override { return ask_text(library_->f.driver_version); }
  std::unique_ptr<NvmlDevice> device_by_uuid(const std::string& uuid) override {
    return device(ask<Handle>(library_->f.by_uuid, uuid.c_str()));
  }
  std::unique_ptr<NvmlDevice> device_by_pci_bus_id(const std::string& pci_bus_id) override {
    return device(ask<Handle>(library_->f.by_bus_id, pci_bus_id.c_str()));
  }

 private:
  std::unique_ptr<NvmlDevice> device(const std::optional<Handle>& handle) const {
    return handle ? std::make_unique<LibraryDevice>(library_, *handle) : nullptr;
  }

  std::shared_ptr<OpenLibrary> library_;
};

}  // namespace

std::shared_ptr<Nvml> open_nvml(const std::string& library, std::string& reason) {
  void* opened = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!opened) {
    const char* error = ::dlerror();
    reason = fmt::format("NVML is not here ({})", error ? error : library);
    return nullptr;
  }
  auto open = std::make_shared<OpenLibrary>(opened);
  if (!open->f.init || (!open->f.by_uuid && !open->f.by_bus_id)) {
    reason = fmt::format("{} is no NVML that can find a device: too old, or another library", library);
    return nullptr;
  }
  const Return answer = open->f.init();
  if (answer != kSuccess) {
    reason =
        fmt::format("NVML does not start: error {} (9: no driver, 18: driver and library differ)", answer);
    return nullptr;
  }
  open->initialized = true;
  return std::make_shared<LibraryNvml>(std::move(open));
}

}  // namespace flopmark
