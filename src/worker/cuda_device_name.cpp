#include <cuda.h>
#include <dlfcn.h>

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

}  // namespace

std::string cuda_device_name(int index) {
  CUdevice device = 0;
  char name[256] = "";
  if (driver_function<CUresult(unsigned)>("cuInit")(0) != CUDA_SUCCESS ||
      driver_function<CUresult(CUdevice*, int)>("cuDeviceGet")(&device, index) != CUDA_SUCCESS ||
      driver_function<CUresult(char*, int, CUdevice)>("cuDeviceGetName")(name, sizeof name, device) !=
          CUDA_SUCCESS) {
    throw std::runtime_error("the CUDA driver does not give the name of device " + std::to_string(index));
  }
  return name;
}

}  // namespace flopmark
