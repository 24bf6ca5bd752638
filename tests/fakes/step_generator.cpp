#include "fakes/step_generator.h"

#include <cmath>

namespace flopmark::testing {
namespace {

constexpr size_t kSteps = 50;
constexpr size_t kStallEvery = 10;

}  // namespace

StepGenerator::StepGenerator(const std::string& name, uint64_t seed)
    : name_(name), random_(seed), shape_{0.003, 0.3, 0.005, 0.01, 0.3} {
  if (name == "noisy") shape_ = {0.02, 0.6, 0.03, 0.03, 0.5};
  if (name == "pareto") shape_.spike_share = 0;
}

const std::vector<std::string>& StepGenerator::names() {
  static const std::vector<std::string> kNames{"quiet",     "noisy",   "procbimodal", "drift",  "stall",
                                               "neighbour", "pareto",  "walk",        "warmup", "clock",
                                               "additive",  "outlier", "second"};
  return kNames;
}

double StepGenerator::launch_offset() {
  double offset = shape_.launch_sd * random_.normal();
  if (name_ == "procbimodal" && random_.uniform() < 0.3) offset += 0.03;
  if (name_ == "drift") offset += 0.04 * static_cast<double>(launch_) / 20;
  if (name_ == "outlier" && random_.uniform() < 0.05) offset += std::log(1.4);
  if (name_ == "second" && launch_ % 2 == 1) offset += 0.02;
  if (name_ == "neighbour" && random_.uniform() > 0.75) disturbed_ = !disturbed_;
  walk_ = 0;
  warmup_steps_ = 10 * random_.exponential();
  ++launch_;
  return offset;
}

double StepGenerator::step_extra(size_t step, size_t phase) {
  if (name_ == "stall" && step % kStallEvery == phase) return std::log(2.0);
  if (name_ == "neighbour") return random_.uniform() < (disturbed_ ? 0.8 : 0.1) ? 0.35 : 0;
  if (name_ == "pareto")
    return random_.uniform() < 0.02 ? std::log(std::pow(1 - random_.uniform(), -1 / 1.5)) : 0;
  if (name_ == "walk") return walk_ += 0.003 * random_.normal();
  if (name_ == "warmup") return 0.2 * std::exp(-static_cast<double>(step) / (warmup_steps_ + 1e-9));
  if (name_ == "clock") {
    if (random_.uniform() < 0.01) fast_clock_ = !fast_clock_;
    return fast_clock_ ? 0 : 0.05;
  }
  return 0;
}

std::vector<double> StepGenerator::next_launch(const Injected& injected) {
  const double offset = launch_offset();
  const size_t phase = random_.index(kStallEvery), stalled = random_.index(kStallEvery);
  double state = shape_.step_sd * random_.normal();
  std::vector<double> times_s;
  for (size_t step = 0; step < kSteps; ++step) {
    double log_time = offset + state + step_extra(step, phase);
    if (random_.uniform() < shape_.spike_share) log_time += shape_.spike_size * random_.exponential();
    double time_s = std::exp(log_time) * (1 + injected.work_ratio);
    if (step % kStallEvery == stalled) time_s += injected.stall_ratio * static_cast<double>(kStallEvery);
    if (name_ == "additive") time_s += 0.1 * random_.exponential();
    times_s.push_back(time_s);
    state = shape_.phi * state + shape_.step_sd * std::sqrt(1 - shape_.phi * shape_.phi) * random_.normal();
  }
  return times_s;
}

PairRatios ratios_of(const std::vector<double>& old_s, const std::vector<double>& new_s) {
  const auto ratio = [&](Summary summary) {
    return std::log(summarize_times(new_s, summary) / summarize_times(old_s, summary));
  };
  return {ratio(Summary::throughput), ratio(Summary::typical), ratio(Summary::floor)};
}

std::vector<PairRatios> measured_pairs(StepGenerator& generator, size_t count, const Injected& injected,
                                       Design design) {
  std::vector<PairRatios> pairs;
  while (pairs.size() < count) {
    const bool new_first = design == Design::random_order && generator.random().sign() > 0;
    const std::vector<double> first_s = generator.next_launch(new_first ? injected : Injected{});
    const std::vector<double> second_s = generator.next_launch(new_first ? Injected{} : injected);
    pairs.push_back(new_first ? ratios_of(second_s, first_s) : ratios_of(first_s, second_s));
  }
  return pairs;
}

Decision judged_trial(StepGenerator& generator, const JudgeRule& rule, const Injected& injected,
                      Design design) {
  std::vector<PairRatios> pairs;
  Decision decision;
  for (const size_t look : rule.looks) {
    const auto more = measured_pairs(generator, look - pairs.size(), injected, design);
    pairs.insert(pairs.end(), more.begin(), more.end());
    decision = decide_pairs(pairs, rule);
    if (decision.verdict != Verdict::unsure) break;
  }
  return decision;
}

}  // namespace flopmark::testing
