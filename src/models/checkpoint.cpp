#include "models/checkpoint.h"

#include <ATen/Context.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/custom_class.h>

#include <mutex>
#include <optional>
#include <utility>

#include "models/autocast.h"

namespace flopmark {
namespace {

thread_local bool running_again = false;

/// Sets the mark for its lifetime; blocks may be nested.
class RunningAgain {
 public:
  RunningAgain() : before_(std::exchange(running_again, true)) {}
  ~RunningAgain() { running_again = before_; }
  RunningAgain(const RunningAgain&) = delete;
  RunningAgain& operator=(const RunningAgain&) = delete;

 private:
  bool before_;
};

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// Where the default generators of the CPU and of a device stand. Meta has none.
class RandomState {
 public:
  static RandomState of(const torch::Device& device) {
    RandomState state;
    state.take(torch::kCPU);
    if (!device.is_cpu() && !device.is_meta()) state.take(device);
    return state;
  }

  void restore() const {
    for (const auto& [device, state] : states_) {
      auto generator = at::globalContext().defaultGenerator(device);
      const std::lock_guard lock(generator.mutex());
      generator.set_state(state);
    }
  }

 private:
  void take(const torch::Device& device) {
    auto generator = at::globalContext().defaultGenerator(device);
    const std::lock_guard lock(generator.mutex());
    states_.emplace_back(device, generator.get_state());
  }

  std::vector<std::pair<torch::Device, Tensor>> states_;
};

/// The generators put back for a while to where they stood once.
class Replay {
 public:
  Replay(const std::optional<RandomState>& then, const torch::Device& device) {
    if (!then) return;
    now_ = RandomState::of(device);
    then->restore();
  }
  ~Replay() {
    if (now_) now_->restore();
  }
  Replay(const Replay&) = delete;
  Replay& operator=(const Replay&) = delete;

 private:
  std::optional<RandomState> now_;
};

/// What the re-run needs besides its input.
struct Rerun : torch::CustomClassHolder {
  BlockFunction block;
  CheckpointOptions options;
  AutocastOptions autocast;
  std::optional<RandomState> random;
};

/// Forward once more, now recorded. @returns its output.
Tensor run_again(const Rerun& rerun, const Tensor& input) {
  const torch::AutoGradMode recorded(true);
  const RunningAgain again;
  const AutocastGuard autocast(rerun.autocast);
  const Replay replay(rerun.random, input.device());
  return rerun.block(input);
}

struct Checkpoint : torch::autograd::Function<Checkpoint> {
  static Tensor forward(AutogradContext* context, const Tensor& x, at::TensorList /*parameters*/,
                        const c10::intrusive_ptr<Rerun>& rerun) {
    context->save_for_backward({x});
    context->saved_data["rerun"] = c10::IValue::make_capsule(rerun);
    return rerun->block(x);
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const auto capsule = context->saved_data["rerun"].toCapsule();
    const auto& rerun = static_cast<const Rerun&>(*capsule);
    const Tensor x = context->get_saved_variables().at(0);
    const Tensor input = x.detach().requires_grad_(x.requires_grad());
    const Tensor output = run_again(rerun, input);

    variable_list all = {input}, wanted;
    all.insert(all.end(), rerun.options.parameters.begin(), rerun.options.parameters.end());
    for (const Tensor& tensor : all) {
      if (tensor.requires_grad()) wanted.push_back(tensor);
    }
    const variable_list found = torch::autograd::grad({output}, wanted, gradients, /*retain_graph=*/false,
                                                      /*create_graph=*/false, /*allow_unused=*/true);
    variable_list result;
    size_t next = 0;
    for (const Tensor& tensor : all) {
      result.push_back(tensor.requires_grad() ? found[next++] : Tensor());
    }
    result.emplace_back();  // of rerun, which is no tensor
    return result;
  }
};

}  // namespace

bool is_running_again() {
  return running_again;
}

Tensor checkpoint(BlockFunction block, const Tensor& x, CheckpointOptions options) {
  auto rerun = c10::make_intrusive<Rerun>();
  rerun->block = std::move(block);
  rerun->options = std::move(options);
  rerun->autocast = AutocastOptions::current(x.device().type());
  if (rerun->options.random) rerun->random = RandomState::of(x.device());
  return Checkpoint::apply(x, at::TensorList(rerun->options.parameters), rerun);
}

}  // namespace flopmark
