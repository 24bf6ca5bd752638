#include <algorithm>
#include <functional>

#include "measure/condition_log.h"
#include "stats/quantile.h"

namespace flopmark {
namespace {

using SampleList = std::vector<ConditionSample>;

std::optional<SampledRange> range_of(const std::vector<double>& values) {
  if (values.empty()) {
    return std::nullopt;
  }
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  return SampledRange{*least, median(values), *most};
}

template <typename Member>
std::optional<SampledRange> device_range(const SampleList& samples, Member member) {
  std::vector<double> values;
  for (const ConditionSample& sample : samples) {
    if (const auto& value = sample.device.*member) {
      values.push_back(*value);
    }
  }
  return range_of(values);
}

std::optional<SampledRange> cpu_clock_range(const SampleList& samples) {
  std::vector<double> values;
  for (const ConditionSample& sample : samples) {
    if (sample.cpu_clock_hz) {
      values.push_back(*sample.cpu_clock_hz);
    }
  }
  return range_of(values);
}

/// Over the samples that tell their reasons.
std::optional<std::map<std::string, double>> throttle_shares(const SampleList& samples) {
  std::map<std::string, double> counts;
  double known = 0;
  for (const ConditionSample& sample : samples) {
    if (!sample.device.throttle_reasons) {
      continue;
    }
    ++known;
    for (const ThrottleReason& reason : throttle_reasons()) {
      if ((*sample.device.throttle_reasons & reason.bit) != 0) {
        ++counts[reason.name];
      }
    }
  }
  if (known == 0) {
    return std::nullopt;
  }
  for (auto& [name, count] : counts) {
    count /= known;
  }
  return counts;
}

/// From the first to the last sample that has the counter; a counter that ran backwards says nothing.
std::optional<double> energy_between(const SampleList& samples) {
  if (samples.size() < 2 || !samples.front().device.energy_j || !samples.back().device.energy_j) {
    return std::nullopt;
  }
  const double energy_j = *samples.back().device.energy_j - *samples.front().device.energy_j;
  return energy_j >= 0 ? std::optional(energy_j) : std::nullopt;
}

void add_others(const SampleList& samples, Conditions& conditions) {
  std::vector<double> busy_ratios;
  bool all_known = true;
  for (const ConditionSample& sample : samples) {
    if (!sample.others) {
      continue;
    }
    conditions.other_processes = std::max(conditions.other_processes.value_or(0), sample.others->processes);
    if (sample.others->busy_ratio) {
      busy_ratios.push_back(*sample.others->busy_ratio);
    }
    all_known = all_known && sample.others->busy_ratio.has_value();
  }
  if (all_known && !busy_ratios.empty()) {
    conditions.others_device_ratio = mean(busy_ratios);
  }
}

std::optional<double> per_step(const std::optional<int64_t>& first, const std::optional<int64_t>& last,
                               int64_t steps) {
  if (!first || !last || steps < 1 || *last < *first) {
    return std::nullopt;
  }
  return static_cast<double>(*last - *first) / static_cast<double>(steps);
}

/// The launches' own conditions with what they weigh.
struct Weighed {
  const Conditions* conditions;
  double steps;
};
using WeighedList = std::vector<Weighed>;

std::optional<SampledRange> merged_range(const WeighedList& all,
                                         std::optional<SampledRange> Conditions::*member) {
  std::vector<double> medians;
  SampledRange merged;
  for (const Weighed& one : all) {
    const auto& range = one.conditions->*member;
    if (!range) {
      continue;
    }
    merged.min = medians.empty() ? range->min : std::min(merged.min, range->min);
    merged.max = medians.empty() ? range->max : std::max(merged.max, range->max);
    medians.push_back(range->median);
  }
  if (medians.empty()) {
    return std::nullopt;
  }
  merged.median = median(medians);
  return merged;
}

using Weight = std::function<double(const Weighed&)>;

/// Weighted mean over the launches that know the value.
std::optional<double> merged_mean(const WeighedList& all, std::optional<double> Conditions::*member,
                                  const Weight& weight_of) {
  double sum = 0, weights = 0;
  for (const Weighed& one : all) {
    if (const auto& value = one.conditions->*member) {
      sum += *value * weight_of(one);
      weights += weight_of(one);
    }
  }
  return weights > 0 ? std::optional(sum / weights) : std::nullopt;
}

std::optional<double> merged_sum(const WeighedList& all, std::optional<double> Conditions::*member) {
  double sum = 0;
  for (const Weighed& one : all) {
    const auto& value = one.conditions->*member;
    if (!value) {
      return std::nullopt;
    }
    sum += *value;
  }
  return sum;
}

std::optional<std::map<std::string, double>> merged_reasons(const WeighedList& all) {
  std::map<std::string, double> merged;
  double samples = 0;
  for (const Weighed& one : all) {
    if (!one.conditions->throttle_ratio) {
      continue;
    }
    const auto weight = static_cast<double>(one.conditions->samples);
    samples += weight;
    for (const auto& [name, share] : *one.conditions->throttle_ratio) {
      merged[name] += share * weight;
    }
  }
  for (auto& [name, share] : merged) {
    share /= samples;
  }
  return samples > 0 ? std::optional(merged) : std::nullopt;
}

double weight_by_samples(const Weighed& one) {
  return static_cast<double>(one.conditions->samples);
}
double weight_by_time(const Weighed& one) {
  return one.conditions->duration_s.value_or(0);
}
double weight_by_steps(const Weighed& one) {
  return one.steps;
}

}  // namespace

Conditions summarize_conditions(const std::vector<ConditionSample>& samples, const CpuReading& first,
                                const CpuReading& last, int64_t steps) {
  const CpuShares shares = cpu_shares(first, last);
  Conditions conditions;
  conditions.samples = std::ssize(samples);
  conditions.duration_s = last.time_s - first.time_s;
  conditions.device_clock_hz = device_range(samples, &NvmlReading::clock_hz);
  conditions.device_memory_clock_hz = device_range(samples, &NvmlReading::memory_clock_hz);
  conditions.device_power_w = device_range(samples, &NvmlReading::power_w);
  conditions.device_temperature_c = device_range(samples, &NvmlReading::temperature_c);
  conditions.cpu_clock_hz = cpu_clock_range(samples);
  conditions.throttle_ratio = throttle_shares(samples);
  conditions.device_energy_j = energy_between(samples);
  add_others(samples, conditions);
  conditions.steal_ratio = shares.steal_ratio;
  conditions.others_cpu_ratio = shares.others_ratio;
  conditions.run_queue_wait_ratio = shares.wait_ratio;
  conditions.involuntary_switches_per_step =
      per_step(first.involuntary_switches, last.involuntary_switches, steps);
  conditions.major_faults_per_step = per_step(first.major_faults, last.major_faults, steps);
  conditions.minor_faults_per_step = per_step(first.minor_faults, last.minor_faults, steps);
  return conditions;
}

std::optional<Conditions> merge_conditions(const std::vector<LaunchSamples>& launches) {
  WeighedList all;
  for (const LaunchSamples& launch : launches) {
    if (launch.conditions) {
      all.push_back({&*launch.conditions, static_cast<double>(launch.timed.steps)});
    }
  }
  if (all.empty()) {
    return std::nullopt;
  }
  Conditions merged;
  for (const Weighed& one : all) {
    merged.samples += one.conditions->samples;
    const auto& others = one.conditions->other_processes;
    if (others) {
      merged.other_processes = std::max(merged.other_processes.value_or(0), *others);
    }
  }
  for (auto member :
       {&Conditions::device_clock_hz, &Conditions::device_memory_clock_hz, &Conditions::device_power_w,
        &Conditions::device_temperature_c, &Conditions::cpu_clock_hz}) {
    merged.*member = merged_range(all, member);
  }
  for (auto member :
       {&Conditions::steal_ratio, &Conditions::others_cpu_ratio, &Conditions::run_queue_wait_ratio}) {
    merged.*member = merged_mean(all, member, weight_by_time);
  }
  const bool has_peers = std::any_of(launches.begin(), launches.end(),
                                     [](const LaunchSamples& launch) { return !launch.ranks.empty(); });
  if (has_peers) merged.others_cpu_ratio.reset();  // the job's other ranks would be among them
  for (auto member : {&Conditions::involuntary_switches_per_step, &Conditions::major_faults_per_step,
                      &Conditions::minor_faults_per_step}) {
    merged.*member = merged_mean(all, member, weight_by_steps);
  }
  merged.others_device_ratio = merged_mean(all, &Conditions::others_device_ratio, weight_by_samples);
  merged.throttle_ratio = merged_reasons(all);
  merged.duration_s = merged_sum(all, &Conditions::duration_s);
  merged.device_energy_j =
      all.size() == launches.size() ? merged_sum(all, &Conditions::device_energy_j) : std::nullopt;
  return merged;
}

}  // namespace flopmark
