// What flopmark's timed loop costs beside a bare LibTorch loop of the same step, written by hand below.
//
//   loop_overhead CONFIG [LIMIT [MAX_S]]    e.g. loop_overhead configs/quickstart.json 1.002 1200
//
// Both run in this process, alternating step by step in random order, until the 95 % interval of the ratio
// (median of the pairs' ratios, by order statistics) is narrower than +-0.1 % or MAX_S seconds are over.
// Fails when the lower end is above LIMIT.
#include <ATen/ops/_foreach_mul.h>
#include <ATen/ops/_foreach_norm.h>
#include <ATen/ops/_fused_adamw.h>
#include <torch/torch.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <random>

#include "measure/host_marker.h"
#include "measure/step_loop.h"
#include "train/device_marker.h"
#include "worker/job.h"

namespace {

using namespace flopmark;
using SteadyTime = std::chrono::steady_clock;

double seconds_since(SteadyTime::time_point start) {
  return std::chrono::duration<double>(SteadyTime::now() - start).count();
}

/// The step as one writes it without flopmark: fused AdamW, clipping by total norm.
class BareLoop {
 public:
  explicit BareLoop(Job job) : job_(std::move(job)), parameters_(job_.model->parameters()) {
    for (const auto& parameter : parameters_) {
      first_.push_back(torch::zeros_like(parameter).detach());
      second_.push_back(torch::zeros_like(parameter).detach());
      steps_.push_back(torch::zeros({}, torch::kFloat));
    }
  }

  void step() {
    const Batch batch = job_.loader->next();
    auto loss = job_.model->loss(batch);
    loss.backward();
    torch::NoGradGuard no_grad;
    std::vector<torch::Tensor> gradients;
    gradients.reserve(parameters_.size());
    for (const auto& parameter : parameters_) {
      gradients.push_back(parameter.grad());
    }
    const auto norm = torch::stack(at::_foreach_norm(gradients)).norm();
    at::_foreach_mul_(gradients, (1.0 / (norm + 1e-6)).clamp_max(1.0));
    for (auto& count : steps_) {
      count.add_(1);
    }
    at::_fused_adamw_(parameters_, gradients, first_, second_, {}, steps_, 3e-4, 0.9, 0.999, 0.01, 1e-8,
                      /*amsgrad=*/false, /*maximize=*/false);
    for (auto& parameter : parameters_) {
      parameter.mutable_grad().reset();
    }
  }

 private:
  Job job_;
  std::vector<torch::Tensor> parameters_, first_, second_, steps_;
};

/// flopmark's step with one bare step beside each: before its first phase or after its last, by a coin. The
/// bare step's own time is kept, so that the loop's step time less it is what our loop took, everything of
/// ours included.
class Alternating : public TrainingStep {
 public:
  Alternating(TrainingStep& ours, BareLoop& bare) : ours_(ours), bare_(bare) {}

  void begin_block(int64_t steps) override {
    bare_s.assign(static_cast<size_t>(steps), 0.0);
    at_ = 0;
    ours_.begin_block(steps);
  }
  void next_batch() override {
    before_ = (random_() & 1) != 0;
    if (before_) {
      run_bare();
    }
    ours_.next_batch();
  }
  void transfer() override { ours_.transfer(); }
  void forward() override { ours_.forward(); }
  void backward() override { ours_.backward(); }
  void update() override {
    ours_.update();
    if (!before_) {
      run_bare();
    }
    ++at_;
  }
  BlockFacts end_block() override { return ours_.end_block(); }
  void keep_batch() override { ours_.keep_batch(); }

  std::vector<double> bare_s;

 private:
  void run_bare() {
    const auto start = SteadyTime::now();
    bare_.step();
    bare_s[at_] = seconds_since(start);
  }

  TrainingStep& ours_;
  BareLoop& bare_;
  std::mt19937 random_{1};
  bool before_ = false;
  size_t at_ = 0;
};

struct Interval {
  double low, median, high;
};

/// Median with its distribution-free 95 % interval: order statistics n/2 -+ 0.98 sqrt(n) (normal
/// approximation to the binomial; n is in the hundreds or more).
Interval median_interval(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const auto n = static_cast<double>(values.size());
  const double half = 0.98 * std::sqrt(n);
  const auto pick = [&](double position) {
    return values[static_cast<size_t>(std::clamp(position, 0.0, n - 1))];
  };
  return {pick(std::floor(n / 2 - half)), pick(n / 2), pick(std::ceil(n / 2 + half))};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fputs("usage: loop_overhead CONFIG [LIMIT [MAX_S]]\n", stderr);
    return 200;
  }
  const double limit = argc > 2 ? std::stod(argv[2]) : 1.002;
  const double max_s = argc > 3 ? std::stod(argv[3]) : 1200;
  const RunConfig config = load_config(argv[1], {"train.gradient_clip=1.0", "device=cpu"});
  Job job = make_job(config);
  BareLoop bare(make_job(config));
  const auto ours = make_step(job, config);
  Alternating both(*ours, bare);
  SteadyClock clock;
  const auto marker = make_marker(job.device, clock);
  LoopState state;
  run_block(both, *marker, clock, {.steps = 50}, state);  // warm-up

  std::vector<double> ratios;
  Interval interval{0, 0, 1};
  const auto start = SteadyTime::now();
  while (interval.high - interval.low > 0.002 && seconds_since(start) < max_s) {
    const BlockSamples block = run_block(both, *marker, clock, {.steps = 100}, state);
    for (size_t i = 0; i < block.step_s.size(); ++i) {
      ratios.push_back((block.step_s[i] - both.bare_s[i]) / both.bare_s[i]);
    }
    interval = median_interval(ratios);
  }
  std::printf(
      "%s: flopmark's loop / bare loop: %.4f, 95 %% interval %.4f to %.4f, %zu pairs, %.0f s; limit %.3f: "
      "%s\n",
      config.name.c_str(), interval.median, interval.low, interval.high, ratios.size(), seconds_since(start),
      limit, interval.low > limit ? "FAILED" : "kept");
  return interval.low > limit ? 1 : 0;
}
