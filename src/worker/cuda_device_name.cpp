#include <cuda.h>
#include <dlfcn.h>

#include <optional>
#include <stdexcept>

#include "worker/device_facts.h"

namespace flopmark {
namespace {

/// A function of the driver's library, which LibTorch has loaded already.
template <typename Function>
Function* driver_function(const char* name) {
  void* library = ::dlopen("libcuda.so.1", RTLD_NOW);
  void* function = library == nullptr ? nullptr : ::dlsym(library, name);
  if (function == nullptr) {
    throw std::runtime_error(std::string("the CUDA driver has no ") + name);
  }
  return reinterpret_cast<Function*>(function);
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

CudaUnits cuda_units(int index) {
  CudaUnits units;
  CUdevice device = 0;
  if (!find_device(device, index)) return units;
  units.sm_count = attribute(device, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  if (const auto khz = attribute(device, CU_DEVICE_ATTRIBUTE_CLOCK_RATE)) units.sm_clock_hz = *khz * 1e3;
  return units;
}

std::string cuda_device_name(int index) {
  CUdevice device = 0;
  char name[256] = "";
  if (!find_device(device, index) || driver_function<CUresult(char*, int, CUdevice)>("cuDeviceGetName")(
                                         name, sizeof name, device) != CUDA_SUCCESS) {
    throw std::runtime_error("the CUDA driver does not give the name of device " + std::to_string(index));
  }
  return name;
}

}  // namespace flopmark
