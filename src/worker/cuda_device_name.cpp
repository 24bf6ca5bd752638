#include <cuda_runtime_api.h>

#include <stdexcept>

#include "worker/device_facts.h"

namespace flopmark {

std::string cuda_device_name(int index) {
  cudaDeviceProp properties{};
  const cudaError_t error = cudaGetDeviceProperties(&properties, index);
  if (error != cudaSuccess) {
    throw std::runtime_error(std::string("cudaGetDeviceProperties: ") + cudaGetErrorString(error));
  }
  return properties.name;
}

}  // namespace flopmark
