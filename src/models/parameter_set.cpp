#include "models/parameter_set.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Parallel.h>
#include <ATen/ops/empty.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <atomic>
#include <future>

namespace flopmark {
namespace {

/// Values made with one generator. Below LibTorch's grain size, so that a fill stays in the thread that asked
/// for it.
constexpr int64_t kChunk = 16384;

/// splitmix64 (Steele, Lea, Flood, OOPSLA 2014): spreads neighbouring seeds over all 64 bits.
uint64_t mix(uint64_t value) {
  value += 0x9E3779B97F4A7C15ULL;
  value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9ULL;
  value = (value ^ (value >> 27)) * 0x94D049BB133111EBULL;
  return value ^ (value >> 31);
}

/// Random values for one chunk, always drawn in float32, so that a bf16 model is the rounded float32 model.
void fill_chunk(const torch::Tensor& flat, int64_t chunk, const InitialValue& initial, uint64_t seed) {
  const int64_t begin = chunk * kChunk;
  const int64_t count = std::min(kChunk, flat.numel() - begin);
  auto target = flat.narrow(0, begin, count);
  auto values = flat.scalar_type() == torch::kFloat ? target : at::empty({count}, torch::kFloat);
  const auto generator = at::detail::createCPUGenerator(mix(seed ^ mix(static_cast<uint64_t>(chunk))));
  if (initial.kind == InitialValue::Kind::normal) {
    values.normal_(0, initial.scale, generator);
  } else {
    values.uniform_(-initial.scale, initial.scale, generator);
  }
  if (!values.is_same(target)) {
    target.copy_(values);
  }
}

void fill_random(const torch::Tensor& flat, const InitialValue& initial, uint64_t seed) {
  const int64_t chunks = (flat.numel() + kChunk - 1) / kChunk;
  std::atomic<int64_t> next{0};
  const auto work = [&] {
    const c10::AutoGradMode no_grad(false);  // thread-local
    for (int64_t chunk = next++; chunk < chunks; chunk = next++) {
      fill_chunk(flat, chunk, initial, seed);
    }
  };
  constexpr int64_t kChunksPerThread = 8;  // a thread costs about as much as one chunk
  const int64_t helpers = std::min<int64_t>(at::get_num_threads() - 1, chunks / kChunksPerThread);
  std::vector<std::future<void>> running;
  for (int64_t i = 0; i < helpers; ++i) {
    running.push_back(std::async(std::launch::async, work));
  }
  work();
  for (auto& helper : running) {
    helper.get();
  }
}

}  // namespace

torch::Tensor ParameterSet::create(const std::string& name, at::IntArrayRef sizes,
                                   const InitialValue& initial) {
  const bool images = channels_last_ && sizes.size() == 4;
  const auto format = images ? at::MemoryFormat::ChannelsLast : at::MemoryFormat::Contiguous;
  parameters_.push_back({name, torch::empty(sizes, options_.memory_format(format))});
  initial_.push_back(initial);
  return parameters_.back().value;
}

std::vector<torch::Tensor> ParameterSet::below(const std::string& path) const {
  std::vector<torch::Tensor> values;
  for (const auto& parameter : parameters_) {
    if (parameter.name.starts_with(path + ".")) values.push_back(parameter.value);
  }
  return values;
}

void ParameterSet::initialise(int64_t seed) {
  const c10::AutoGradMode no_grad(false);
  for (size_t i = 0; i < parameters_.size(); ++i) {
    auto value = parameters_[i].value;
    if (value.is_meta()) {
      continue;
    }
    if (initial_[i].kind == InitialValue::Kind::constant) {
      value.fill_(initial_[i].scale);
      continue;
    }
    // Elsewhere than on a CPU, or in another order: one parameter at a time through host memory.
    const bool in_place = value.is_cpu() && value.is_contiguous();
    auto host = in_place ? value : torch::empty(value.sizes(), options_.device(torch::kCPU));
    fill_random(host.view(-1), initial_[i], mix(static_cast<uint64_t>(seed)) + i);
    if (!host.is_same(value)) {
      value.copy_(host);
    }
  }
}

}  // namespace flopmark
