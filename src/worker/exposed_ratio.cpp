#include "worker/exposed_ratio.h"

#include <c10/core/GradMode.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <new>
#include <optional>
#include <vector>

#include "worker/memory.h"

namespace flopmark {
namespace {

constexpr int64_t kRuns = 8, kMostRunSteps = 5;
constexpr double kMemoryShare = 0.5;  ///< of the free host memory that the copies may take

int64_t bytes_of(const std::vector<torch::Tensor>& tensors) {
  int64_t bytes = 0;
  for (const auto& tensor : tensors) bytes += static_cast<int64_t>(tensor.nbytes());
  return bytes;
}

/// Copies in host memory; nothing where there is no room for those of all ranks of this host.
std::optional<std::vector<torch::Tensor>> copies_of(const std::vector<torch::Tensor>& tensors,
                                                    int64_t local_ranks) {
  const auto free = available_memory_bytes();
  const double needed = static_cast<double>(bytes_of(tensors)) * static_cast<double>(local_ranks);
  if (!free || needed > kMemoryShare * static_cast<double>(*free)) return std::nullopt;
  const c10::AutoGradMode no_grad(false);
  try {
    std::vector<torch::Tensor> copies;
    for (const auto& tensor : tensors) {
      copies.push_back(
          tensor.detach().to(torch::kCPU, tensor.scalar_type(), /*non_blocking=*/false, /*copy=*/true));
    }
    return copies;
  } catch (const std::bad_alloc&) {
  } catch (const c10::Error&) {
  }
  return std::nullopt;
}

void put_back(const std::vector<torch::Tensor>& copies, const std::vector<torch::Tensor>& tensors) {
  const c10::AutoGradMode no_grad(false);
  for (size_t i = 0; i < copies.size(); ++i) tensors[i].detach().copy_(copies[i]);
}

}  // namespace

int64_t exposed_run_steps(int64_t timed_steps) {
  return std::clamp<int64_t>(timed_steps / kRuns, 1, kMostRunSteps);
}

void find_exposed_ratio(TorchStep& step, Marker& marker, Clock& clock, const ExposedOptions& options,
                        LoopState& state, RankJob& ranks, CommunicationSamples& communication) {
  const auto trained = step.trained_state();
  const auto copies = copies_of(trained, ranks.place().local_ranks);
  RankGroup& group = ranks.group();
  if (!group.all_agree(copies.has_value())) {
    communication.exposed_reason =
        "there is no memory for copies of parameters and optimizer state, so that no steps were run without "
        "the exchange";
    return;
  }
  try {
    const ExposedTimes own = time_exposed_exchange(step, marker, clock, options, state);
    const double with_s = group.combined(own.with_s, Combine::max);
    const double without_s = group.combined(own.without_s, Combine::max);
    if (with_s > 0) communication.exposed_ratio = std::clamp(1 - without_s / with_s, 0.0, 1.0);
    if (!(with_s > 0)) communication.exposed_reason = "the steps took no time that the clock could see";
  } catch (const NanLoss&) {  // the same on all ranks, which share their losses
    step.set_exchange(true);
    communication.exposed_reason = "without the exchange a loss was not finite";
  }
  put_back(*copies, trained);
}

}  // namespace flopmark
