#include "worker/torch_ruler.h"

#include <ATen/Context.h>
#include <ATen/DeviceAccelerator.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/mm.h>
#include <c10/core/InferenceMode.h>
#include <sys/mman.h>

#include <new>

#include "measure/host_marker.h"
#include "train/device_marker.h"

namespace flopmark {
namespace {

/// Large enough to last for milliseconds, small enough to leave room for a model.
struct RulerSize {
  int64_t side;         ///< of the square matrices
  int64_t copy_values;  ///< fp32 values copied
  int64_t copies;       ///< that make one call
};
constexpr RulerSize kCpuSize{512, int64_t{8} << 20, 1}, kAcceleratorSize{4096, int64_t{16} << 20, 16};

/// Pages of this process's own, beside malloc.
class Pages {
 public:
  explicit Pages(size_t bytes)
      : bytes_(bytes),
        begin_(::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    if (begin_ == MAP_FAILED) throw std::bad_alloc();
  }
  ~Pages() { ::munmap(begin_, bytes_); }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  void* begin() const { return begin_; }

 private:
  size_t bytes_;
  void* begin_;
};

class TorchRuler : public RulerKernel {
 public:
  explicit TorchRuler(const torch::Device& device)
      : device_(device),
        size_(device.is_cpu() ? kCpuSize : kAcceleratorSize),
        marker_(make_marker(device, clock_)),
        tf32_(at::globalContext().allowTF32CuBLAS()) {
    const c10::InferenceMode no_gradients;
    const torch::Tensor values = make_values();
    from_ = values.narrow(0, 0, size_.copy_values);
    to_ = values.narrow(0, size_.copy_values, size_.copy_values);
    const int64_t square = size_.side * size_.side;
    const auto matrix = [&](int64_t at) {
      return values.narrow(0, at, square).view({size_.side, size_.side});
    };
    a_ = matrix(0);
    b_ = matrix(square);
    product_ = matrix(2 * square);
    // No constant: what a GPU draws, and so its clock, depends on the values.
    at::arange_out(from_, size_.copy_values).remainder_(251).div_(251).sub_(0.5);
    to_.copy_(from_);
    marker_->synchronize();
    at::globalContext().setAllowTF32CuBLAS(false);
  }
  ~TorchRuler() override { at::globalContext().setAllowTF32CuBLAS(tf32_); }
  TorchRuler(const TorchRuler&) = delete;
  TorchRuler& operator=(const TorchRuler&) = delete;

  int64_t matmul_flop() const override { return 2 * size_.side * size_.side * size_.side; }
  int64_t copy_bytes() const override {
    return size_.copies * 2 * size_.copy_values * static_cast<int64_t>(sizeof(float));
  }

  void matmul() override {
    const c10::InferenceMode no_gradients;
    at::mm_out(product_, a_, b_);
    marker_->synchronize();
  }
  void copy() override {
    const c10::InferenceMode no_gradients;
    for (int64_t i = 0; i < size_.copies; ++i) to_.copy_(from_, /*non_blocking=*/true);
    marker_->synchronize();
  }

 private:
  /// Room for both copies' values, which the matrices share, and for a third matrix where they are large.
  int64_t values_needed() const { return std::max(2 * size_.copy_values, 3 * size_.side * size_.side); }
  torch::Tensor make_values() {
    if (!device_.is_cpu())
      return at::empty({values_needed()}, torch::TensorOptions(device_).dtype(torch::kFloat));
    pages_.emplace(static_cast<size_t>(values_needed()) * sizeof(float));
    return at::from_blob(pages_->begin(), {values_needed()}, torch::TensorOptions().dtype(torch::kFloat));
  }

  torch::Device device_;
  RulerSize size_;
  SteadyClock clock_;
  std::unique_ptr<Marker> marker_;
  bool tf32_;
  std::optional<Pages> pages_;
  torch::Tensor a_, b_, product_, from_, to_;
};

}  // namespace

std::unique_ptr<RulerKernel> make_ruler_kernel(const torch::Device& device) {
  return std::make_unique<TorchRuler>(device);
}

void read_ruler_on(const torch::Device& device, std::optional<Ruler>& ruler) {
  try {
    const auto kernel = make_ruler_kernel(device);
    SteadyClock clock;
    Ruler readings = ruler.value_or(Ruler{});
    read_ruler(*kernel, clock, readings);
    ruler = std::move(readings);
  } catch (const c10::OutOfMemoryError&) {
  } catch (const std::bad_alloc&) {
  }
  if (!device.is_cpu()) at::accelerator::emptyCache();
}

}  // namespace flopmark
