#include "worker/cuda_device.h"

#include <cuda.h>
#include <dlfcn.h>

#include <optional>
#include <stdexcept>

namespace flopmark {
namespace {

/// A function of the driver's library, which LibTorch has loaded already; null in a driver that lacks it.
template <typename Function>
Function* optional_driver_function(const char* name) {
  void* library = ::dlopen("libcuda.so.1", RTLD_NOW);
  return reinterpret_cast<Function*>(library == nullptr ? nullptr : ::dlsym(library, name));
}

template <typename Function>
Function* driver_function(const char* name) {
  auto* function = optional_driver_function<Function>(name);
  if (function == nullptr) {
    throw std::runtime_error(std::string("the CUDA driver has no ") + name);
  }
  return function;
}

/// cuDeviceGetUuid_v2 gives a MIG instance its own UUID, the first version its board's.
std::optional<std::string> uuid_of(CUdevice device) {
  CUuuid uuid{};
  auto* get_uuid = optional_driver_function<CUresult(CUuuid*, CUdevice)>("cuDeviceGetUuid_v2");
  if (get_uuid == nullptr || get_uuid(&uuid, device) != CUDA_SUCCESS) return std::nullopt;
  std::string text;
  for (size_t i = 0; i < sizeof uuid.bytes; ++i) {
    constexpr const char* kDigits = "0123456789abcdef";
    const auto byte = static_cast<unsigned char>(uuid.bytes[i]);
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

std::optional<std::string> bus_id_of(CUdevice device) {
  char text[32] = "";
  auto* get_bus_id = optional_driver_function<CUresult(char*, int, CUdevice)>("cuDeviceGetPCIBusId");
  const bool known = get_bus_id != nullptr && get_bus_id(text, sizeof text, device) == CUDA_SUCCESS;
  return known ? std::optional<std::string>(text) : std::nullopt;
}

bool find_device(CUdevice& device, int index) {
  return driver_function<CUresult(unsigned)>("cuInit")(0) == CUDA_SUCCESS &&
         driver_function<CUresult(CUdevice*, int)>("cuDeviceGet")(&device, index) == CUDA_SUCCESS;
}

std::optional<int> attribute(CUdevice device, CUdevice_attribute which) {
  int value = 0;
  auto* get = driver_function<CUresult(int*, CUdevice_attribute, CUdevice)>("cuDeviceGetAttribute");
  return get(&value, which, device) == CUDA_SUCCESS && value > 0 ? std::optional(value) : std::nullopt;
}

}  // namespace

CudaDevice cuda_device(int index) {
  CUdevice device = 0;
  char name[256] = "";
  if (!find_device(device, index) || driver_function<CUresult(char*, int, CUdevice)>("cuDeviceGetName")(
                                         name, sizeof name, device) != CUDA_SUCCESS) {
    throw std::runtime_error("the CUDA driver does not give the name of device " + std::to_string(index));
  }
  CudaDevice found;
  found.name = name;
  found.address = {uuid_of(device), bus_id_of(device)};
  found.sm_count = attribute(device, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  if (const auto khz = attribute(device, CU_DEVICE_ATTRIBUTE_CLOCK_RATE)) found.sm_clock_hz = *khz * 1e3;
  return found;
}

std::optional<std::string> nccl_version() {
  // No header of NCCL is needed for its one function that takes an int: ncclGetVersion(int*), 22703
  // is 2.27.3.
  auto* get_version = reinterpret_cast<int (*)(int*)>(::dlsym(RTLD_DEFAULT, "ncclGetVersion"));
  int version = 0;
  if (get_version == nullptr || get_version(&version) != 0) return std::nullopt;
  return std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
         std::to_string(version % 100);
}

}  // namespace flopmark
