#include "results/record_peak.h"

#include <fmt/format.h>

#include "hardware/peak.h"

namespace flopmark {
namespace {

PeakDevice peak_device(const Environment& environment) {
  PeakDevice device;
  device.name = environment.device_name.value_or(environment.cpu_model.value_or(""));
  device.is_cpu = !environment.cuda.has_value();
  device.threads = environment.threads;
  device.sm_count = environment.sm_count;
  device.clock_hz = environment.sm_clock_hz;
  return device;
}

Peak peak_of_shared_cpus(const PeakDevice& device, const std::string& precision, int64_t ranks) {
  Peak peak;
  peak.precision = precision;
  peak.source = "none";
  if (!device.name.empty()) peak.device = device.name;
  peak.reason = fmt::format(
      "{} ranks share the cores of their CPUs, and a measured peak is of one process that has them to "
      "itself; give the dense peak of one rank by hand with peak.flop_per_s (FLOP/s)",
      ranks);
  return peak;
}

/// The device of each rank; of another kind than rank 0's no more than its name is known.
std::vector<PeakDevice> rank_devices(const PeakDevice& first, const RecordInputs& inputs) {
  std::vector<PeakDevice> devices;
  if (inputs.launches.empty()) return {first};
  for (const RankSamples& rank : inputs.launches.front().ranks) {
    PeakDevice device = first;
    if (rank.device_name != first.name) device = {.name = rank.device_name, .is_cpu = first.is_cpu};
    devices.push_back(std::move(device));
  }
  return devices.empty() ? std::vector<PeakDevice>{first} : devices;
}

}  // namespace

void add_peak(RunRecord& record, const RecordInputs& inputs, const std::string& precision) {
  const PeakDevice device = peak_device(record.environment);
  if (inputs.config.peak_flop_per_s) {
    record.peak = resolve_peak(inputs.config.peak_flop_per_s, device.name, precision);
    return;
  }
  if (device.is_cpu && inputs.config.parallel.ranks > 1) {
    record.peak = peak_of_shared_cpus(device, precision, inputs.config.parallel.ranks);
    return;
  }
  std::vector<PrecisionWork> work;
  for (const PrecisionFlops& part : record.flops.value_or(FlopTotals{}).by_precision) {
    work.push_back({part.precision, static_cast<double>(part.model_flop)});
  }
  std::vector<Peak> peaks;
  for (const PeakDevice& of_rank : rank_devices(device, inputs)) {
    peaks.push_back(effective_peak(inputs.peaks, of_rank, work, precision));
  }
  record.peak = mean_rank_peak(peaks);
  const auto clocks = clock_disagreement(inputs.peaks, device);
  if (clocks && record.peak.source == "table") record.warnings.push_back({"peak_clock", *clocks});
}

}  // namespace flopmark
