#include "metrics/metrics.h"

#include <algorithm>
#include <cmath>

#include "metrics/ranks.h"

namespace flopmark {
namespace {

/// numerator / denominator where that says something; unknown is absent, never NaN, infinite or negative.
std::optional<double> quotient(double numerator, double denominator) {
  const double value = numerator / denominator;
  if (!(denominator > 0) || !(value >= 0) || !std::isfinite(value)) {
    return std::nullopt;
  }
  return value;
}

double wall_s(const MetricInputs& inputs) {
  double sum_s = 0;
  for (const LaunchSamples& launch : inputs.launches) {
    sum_s += launch.timed.wall_s;
  }
  return sum_s;
}

/// Throughput of all devices: what was really processed over the wall-clock time of the timed steps.
std::optional<double> throughput(const MetricInputs& inputs, int64_t BlockSamples::*count) {
  int64_t total = 0;
  for (const LaunchSamples& launch : inputs.launches) {
    total += launch.timed.*count;
  }
  return total > 0 ? quotient(static_cast<double>(total), wall_s(inputs)) : std::nullopt;
}

std::optional<double> per_device(const std::optional<double>& value, const MetricInputs& inputs) {
  return value ? quotient(*value, static_cast<double>(inputs.devices)) : std::nullopt;
}

/// How many steps of the size that was counted the timed steps were: fewer than they were where an epoch ends
/// with a short batch.
double counted_steps(const LaunchSamples& launch, int64_t devices) {
  if (launch.counted_samples < 1 || launch.timed.samples < 1) return static_cast<double>(launch.timed.steps);
  return static_cast<double>(launch.timed.samples) / static_cast<double>(launch.counted_samples * devices);
}

/// FLOP/s of one device: FLOPs of a step times steps, over the wall-clock time. Absent if a launch was not
/// counted.
std::optional<double> device_flop_per_s(const MetricInputs& inputs, int64_t (*flop)(const FlopTotals&)) {
  double total_flop = 0;
  for (const LaunchSamples& launch : inputs.launches) {
    if (!launch.flops) {
      return std::nullopt;
    }
    total_flop += static_cast<double>(flop(*launch.flops)) * counted_steps(launch, inputs.devices);
  }
  return total_flop > 0 ? quotient(total_flop, wall_s(inputs)) : std::nullopt;
}

std::optional<double> times_devices(const std::optional<double>& value, const MetricInputs& inputs) {
  return value ? quotient(*value * static_cast<double>(inputs.devices), 1.0) : std::nullopt;
}

std::optional<double> over_peak(const std::optional<double>& flop_per_s, const MetricInputs& inputs) {
  return flop_per_s && inputs.peak.flop_per_s ? quotient(*flop_per_s, *inputs.peak.flop_per_s) : std::nullopt;
}

int64_t model_flop(const FlopTotals& totals) {
  return totals.model_flop();
}
int64_t hardware_flop(const FlopTotals& totals) {
  return totals.hardware_flop();
}
/// What published tables call HFU: re-run blocks count, the fused attention kernel's own recomputation does
/// not.
int64_t recompute_only_flop(const FlopTotals& totals) {
  return totals.model_flop() + totals.recompute_flop;
}

/// The highest of all launches; with `of_ranks` also of all ranks, whose one figure of memory is then
/// `bytes`.
std::optional<double> largest(const MetricInputs& inputs, std::optional<int64_t> MemorySamples::*bytes,
                              bool of_ranks = false) {
  std::optional<int64_t> peak;
  const auto take = [&](const std::optional<int64_t>& value) {
    if (value && *value >= 0) peak = std::max(peak.value_or(0), *value);
  };
  for (const LaunchSamples& launch : inputs.launches) {
    take(launch.memory.*bytes);
    if (!of_ranks || !(launch.memory.*bytes)) continue;
    for (const RankSamples& rank : launch.ranks) take(rank.memory_peak_bytes);
  }
  return peak ? std::optional(static_cast<double>(*peak)) : std::nullopt;
}

std::optional<double> samples_per_s(const MetricInputs& inputs) {
  return throughput(inputs, &BlockSamples::samples);
}
std::optional<double> samples_per_s_per_device(const MetricInputs& inputs) {
  return per_device(samples_per_s(inputs), inputs);
}
std::optional<double> tokens_per_s(const MetricInputs& inputs) {
  return throughput(inputs, &BlockSamples::tokens);
}
std::optional<double> tokens_per_s_per_device(const MetricInputs& inputs) {
  return per_device(tokens_per_s(inputs), inputs);
}
std::optional<double> images_per_s(const MetricInputs& inputs) {
  return throughput(inputs, &BlockSamples::images);
}
std::optional<double> images_per_s_per_device(const MetricInputs& inputs) {
  return per_device(images_per_s(inputs), inputs);
}

/// Of all devices: each runs the FLOPs that FlopTotals counts for one.
std::optional<double> model_flop_per_s(const MetricInputs& inputs) {
  return times_devices(device_flop_per_s(inputs, model_flop), inputs);
}
std::optional<double> hardware_flop_per_s(const MetricInputs& inputs) {
  return times_devices(device_flop_per_s(inputs, hardware_flop), inputs);
}

/// Model FLOPs utilization: Chowdhery et al., "PaLM", 2022, appendix B; the numerator is exact here, not 6N.
/// The number of devices stands above and below the line and cancels.
std::optional<double> mfu(const MetricInputs& inputs) {
  return over_peak(device_flop_per_s(inputs, model_flop), inputs);
}
/// Hardware FLOPs utilization: Korthikanti et al., "Reducing Activation Recomputation", 2022, with everything
/// that ran.
std::optional<double> hfu(const MetricInputs& inputs) {
  return over_peak(device_flop_per_s(inputs, hardware_flop), inputs);
}
std::optional<double> hfu_recompute_only(const MetricInputs& inputs) {
  return over_peak(device_flop_per_s(inputs, recompute_only_flop), inputs);
}

std::optional<double> memory_peak_allocated(const MetricInputs& inputs) {
  return largest(inputs, &MemorySamples::allocated_bytes, true);
}
std::optional<double> memory_peak_reserved(const MetricInputs& inputs) {
  return largest(inputs, &MemorySamples::reserved_bytes);
}
std::optional<double> memory_device_used(const MetricInputs& inputs) {
  return largest(inputs, &MemorySamples::device_used_bytes);
}
std::optional<double> host_peak(const MetricInputs& inputs) {
  const bool is_on_cpu = !memory_peak_allocated(inputs);  // then it is what the ranks say of themselves
  return largest(inputs, &MemorySamples::host_bytes, is_on_cpu);
}

/// Mean over the ranks of the time inside collectives, waiting for slower ranks included, hidden or not.
/// One rank exchanges nothing: there is no share to state.
std::optional<double> communication_share(const MetricInputs& inputs) {
  const auto communication = summarize_communication(inputs.launches);
  double step_s = 0, steps = 0;
  for (const LaunchSamples& launch : inputs.launches) {
    for (const double one_s : launch.timed.step_s) step_s += one_s;
    steps += static_cast<double>(launch.timed.step_s.size());
  }
  return communication ? quotient(communication->total_s * steps, step_s) : std::nullopt;
}

/// What a step loses by the exchange: from steps with and without it.
std::optional<double> communication_exposed(const MetricInputs& inputs) {
  const auto communication = summarize_communication(inputs.launches);
  return communication ? communication->exposed_ratio : std::nullopt;
}

/// Share of the step spent in the data phase: on a CPU the wait for the loader, on a GPU the idle gap it
/// leaves.
std::optional<double> data_wait(const MetricInputs& inputs) {
  double data_s = 0, step_s = 0;
  for (const LaunchSamples& launch : inputs.launches) {
    const std::vector<double>& waits_s = launch.timed.phase_s[static_cast<size_t>(Phase::data)];
    if (waits_s.size() != launch.timed.step_s.size()) {
      return std::nullopt;
    }
    for (size_t i = 0; i < waits_s.size(); ++i) {
      data_s += waits_s[i];
      step_s += launch.timed.step_s[i];
    }
  }
  return quotient(data_s, step_s);
}

/// Sums over the launches' passes on a cached batch; absent unless every launch has one.
struct CachedPass {
  double wall_s = 0, steps = 0, samples = 0;
};
std::optional<CachedPass> cached_pass(const MetricInputs& inputs) {
  CachedPass all;
  for (const LaunchSamples& launch : inputs.launches) {
    if (!launch.cached) return std::nullopt;
    all.wall_s += launch.cached->wall_s;
    all.steps += static_cast<double>(launch.cached->steps);
    all.samples += static_cast<double>(launch.cached->samples);
  }
  return all;
}

std::optional<double> step_cached(const MetricInputs& inputs) {
  const auto pass = cached_pass(inputs);
  return pass ? quotient(pass->wall_s, pass->steps) : std::nullopt;
}

/// Time per sample of a device with the loader over that with a cached batch, of which a launch has the first
/// rank's: of steps, where all batches are whole.
std::optional<double> loader_cost(const MetricInputs& inputs) {
  const auto pass = cached_pass(inputs);
  const std::optional<double> rate = samples_per_s_per_device(inputs);
  return pass && rate ? quotient(pass->samples, pass->wall_s * *rate) : std::nullopt;
}

/// The boards' energy over the timed steps, shared among `count`; absent unless every launch has it, and of
/// several ranks, as a launch has that of one board only.
std::optional<double> energy_per(const MetricInputs& inputs, int64_t BlockSamples::*count) {
  double energy_j = 0, total = 0;
  for (const LaunchSamples& launch : inputs.launches) {
    if (!launch.conditions || !launch.conditions->device_energy_j || !launch.ranks.empty()) {
      return std::nullopt;
    }
    energy_j += *launch.conditions->device_energy_j;
    total += static_cast<double>(launch.timed.*count);
  }
  return quotient(energy_j, total);
}

std::optional<double> energy_per_step(const MetricInputs& inputs) {
  return energy_per(inputs, &BlockSamples::steps);
}
std::optional<double> energy_per_token(const MetricInputs& inputs) {
  return energy_per(inputs, &BlockSamples::tokens);
}

}  // namespace

const std::vector<MetricRow>& metric_rows() {
  static const std::vector<MetricRow> kRows = {
      {"samples_per_s", "Samples/s", Unit::per_second, Better::higher, samples_per_s},
      {"samples_per_s_per_device", "Samples/s per device", Unit::per_second, Better::higher,
       samples_per_s_per_device},
      {"tokens_per_s", "Tokens/s", Unit::per_second, Better::higher, tokens_per_s},
      {"tokens_per_s_per_device", "Tokens/s per device", Unit::per_second, Better::higher,
       tokens_per_s_per_device},
      {"images_per_s", "Images/s", Unit::per_second, Better::higher, images_per_s},
      {"images_per_s_per_device", "Images/s per device", Unit::per_second, Better::higher,
       images_per_s_per_device},
      {"model_flop_per_s", "Model FLOP/s", Unit::flop_per_second, Better::higher, model_flop_per_s},
      {"hardware_flop_per_s", "Hardware FLOP/s", Unit::flop_per_second, Better::neither, hardware_flop_per_s},
      {"mfu_ratio", "MFU", Unit::ratio, Better::higher, mfu},
      {"hfu_ratio", "HFU", Unit::ratio, Better::neither, hfu},
      {"hfu_recompute_only_ratio", "HFU, recomputed blocks only", Unit::ratio, Better::neither,
       hfu_recompute_only},
      {"memory_peak_allocated_bytes", "Peak memory allocated", Unit::bytes, Better::lower,
       memory_peak_allocated},
      {"memory_peak_reserved_bytes", "Peak memory reserved", Unit::bytes, Better::lower,
       memory_peak_reserved},
      {"memory_device_used_bytes", "Device memory used", Unit::bytes, Better::lower, memory_device_used},
      {"host_peak_bytes", "Peak host memory", Unit::bytes, Better::lower, host_peak},
      {"communication_ratio", "Communication share", Unit::ratio, Better::lower, communication_share},
      {"communication_exposed_ratio", "Communication exposed", Unit::ratio, Better::lower,
       communication_exposed},
      {"data_wait_ratio", "Data wait share", Unit::ratio, Better::lower, data_wait},
      {"step_cached_s", "Step time, cached batch", Unit::seconds, Better::lower, step_cached},
      {"step_to_cached_ratio", "Step over cached batch", Unit::ratio, Better::lower, loader_cost},
      {"energy_per_step_j", "Energy per step", Unit::joules, Better::lower, energy_per_step},
      {"energy_per_token_j", "Energy per token", Unit::joules, Better::lower, energy_per_token},
  };
  return kRows;
}

}  // namespace flopmark
