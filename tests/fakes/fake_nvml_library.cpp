// A libnvidia-ml.so.1 of our own, for the code that opens the real one: two devices and a MIG instance of the
// second. Types are those of nvml.h, written out once more on purpose. Built twice: as a library of today,
// and with FAKE_NVML_OLD as one that lacks whatever came later. FAKE_NVML_INIT makes nvmlInit fail with that
// code.
#include <cstdlib>
#include <cstring>

namespace {

constexpr int kNotSupported = 3, kNotFound = 6, kInsufficientSize = 7;

struct Fake {
  const char *uuid, *name, *bus_id;
  bool is_mig;
  unsigned clock_mhz;
};
Fake fakes[] = {{"GPU-11111111-0000-0000-0000-000000000000", "NVIDIA One", "00000000:3B:00.0", false, 1500},
                {"GPU-22222222-0000-0000-0000-000000000000", "NVIDIA Two", "00000000:5E:00.0", false, 1980},
                {"MIG-33333333-0000-0000-0000-000000000000", "NVIDIA Two MIG 3g.20gb", "", true, 0}};

const Fake& fake(void* device) {
  return *static_cast<Fake*>(device);
}

int copy(const char* from, char* to, unsigned size) {
  if (std::strlen(from) + 1 > size) return kInsufficientSize;
  std::strcpy(to, from);
  return 0;
}

/// Sensors belong to a board: an instance does not answer.
int number(void* device, unsigned value, unsigned* out) {
  if (fake(device).is_mig) return kNotSupported;
  *out = value;
  return 0;
}

template <const char* Fake::*Member>
int find(const char* text, void** device) {
  for (Fake& one : fakes) {
    if (std::strcmp(one.*Member, text) == 0) {
      *device = &one;
      return 0;
    }
  }
  return kNotFound;
}

}  // namespace

extern "C" {

struct Memory {
  unsigned long long total, free, used;
};
struct ProcessInfo {
  unsigned pid;
  unsigned long long memory;
  unsigned gpu_instance, compute_instance;
};
struct Utilization {
  unsigned pid;
  unsigned long long time_us;
  unsigned sm, memory, encoder, decoder;
};
struct Pci {
  char legacy[16];
  unsigned domain, bus, device, id, subsystem;
  char bus_id[32];
};

int nvmlInit_v2() {
  const char* code = std::getenv("FAKE_NVML_INIT");
  return code == nullptr ? 0 : std::atoi(code);
}
int nvmlShutdown() {
  return 0;
}
int nvmlDeviceGetHandleByUUID(const char* uuid, void** device) {
  return find<&Fake::uuid>(uuid, device);
}
int nvmlDeviceGetHandleByPciBusId_v2(const char* bus_id, void** device) {
  return find<&Fake::bus_id>(bus_id, device);
}
int nvmlDeviceGetName(void* device, char* name, unsigned size) {
  return copy(fake(device).name, name, size);
}
int nvmlDeviceGetClockInfo(void* device, int type, unsigned* mhz) {
  return number(device, type == 1 ? fake(device).clock_mhz : type == 2 ? 2619 : 0, mhz);
}
int nvmlDeviceGetCurrentClocksThrottleReasons(void* device, unsigned long long* reasons) {
  *reasons = 0x24;
  return fake(device).is_mig ? kNotSupported : 0;
}

#ifndef FAKE_NVML_OLD
int nvmlSystemGetDriverVersion(char* version, unsigned size) {
  return copy("580.65.06", version, size);
}
int nvmlDeviceIsMigDeviceHandle(void* device, unsigned* is_mig) {
  *is_mig = fake(device).is_mig ? 1 : 0;
  return 0;
}
int nvmlDeviceGetDeviceHandleFromMigDeviceHandle(void*, void** board) {
  *board = &fakes[1];
  return 0;
}
int nvmlDeviceGetUUID(void* device, char* uuid, unsigned size) {
  return copy(fake(device).uuid, uuid, size);
}
int nvmlDeviceGetPciInfo_v3(void* device, Pci* pci) {
  return copy(fake(device).bus_id, pci->bus_id, sizeof pci->bus_id);
}
int nvmlDeviceGetMigMode(void* device, unsigned* current, unsigned* pending) {
  *pending = 0;
  return number(device, device == &fakes[1] ? 1 : 0, current);
}
int nvmlDeviceGetEccMode(void*, int*, int*) {
  return kNotSupported;
}
int nvmlDeviceGetPersistenceMode(void* device, int* mode) {
  *mode = device == &fakes[0] ? 1 : 0;
  return 0;
}
int nvmlDeviceGetMemoryInfo(void* device, Memory* memory) {
  *memory = fake(device).is_mig ? Memory{20ULL << 30, 15ULL << 30, 5ULL << 30}
                                : Memory{80ULL << 30, 79ULL << 30, 1ULL << 30};
  return 0;
}
int nvmlDeviceGetMaxClockInfo(void* device, int type, unsigned* mhz) {
  return number(device, type == 1 ? 1980 : 2619, mhz);
}
int nvmlDeviceGetApplicationsClock(void* device, int, unsigned* mhz) {
  return number(device, 1830, mhz);
}
int nvmlDeviceGetEnforcedPowerLimit(void* device, unsigned* milliwatt) {
  return number(device, 700000, milliwatt);
}
int nvmlDeviceGetPowerUsage(void* device, unsigned* milliwatt) {
  return number(device, 412500, milliwatt);
}
int nvmlDeviceGetTemperature(void* device, int sensor, unsigned* degrees) {
  return sensor == 0 ? number(device, 61, degrees) : kNotSupported;
}
int nvmlDeviceGetCurrentClocksEventReasons(void* device, unsigned long long* reasons) {
  *reasons = 0x41;
  return fake(device).is_mig ? kNotSupported : 0;
}
int nvmlDeviceGetTotalEnergyConsumption(void*, unsigned long long* millijoule) {
  *millijoule = 123456;
  return 0;
}
int nvmlDeviceGetComputeRunningProcesses_v3(void* device, unsigned* count, ProcessInfo* infos) {
  const unsigned running = device == &fakes[1] ? 100 : 2;
  const bool fits = *count >= running;
  *count = running;
  if (!fits) return kInsufficientSize;
  infos[0] = {1000, 3ULL << 30, ~0U, ~0U};
  infos[1] = {2000, ~0ULL, ~0U, ~0U};
  return 0;
}
/// Process 2000 was seen twice; only what came after `since` is given.
int nvmlDeviceGetProcessUtilization(void*, Utilization* samples, unsigned* count, unsigned long long since) {
  *count = 0;
  if (since < 500) samples[(*count)++] = {2000, 500, 42, 0, 0, 0};
  return *count == 0 ? kNotFound : 0;
}
#endif
}
