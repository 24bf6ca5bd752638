#include <fmt/chrono.h>
#include <fmt/format.h>

#include <ctime>

#include "cli/interrupt.h"
#include "cli/machine_turn.h"
#include "cli/peak_command.h"
#include "cli/scratch_folder.h"
#include "cli/terminal.h"
#include "launch/launch.h"
#include "report/peak_report.h"
#include "report/summary.h"
#include "results/peak_files.h"

namespace flopmark {
namespace {

constexpr double kQuietSpreadRatio = 1.2;  // p90 / p10 of the blocks

/// Beyond the time asked for: loading LibTorch, and the blocks a slow device needs at least.
constexpr double kSpareTime_s = 120;

LaunchOutcome search_peak(const PeakOptions& options) {
  const std::filesystem::path worker = find_worker(options.worker);
  const InterruptGuard guard;
  const auto turn = MachineTurn::wait();
  if (!turn) return interrupted_launch();
  const ScratchFolder scratch(1 << 20);
  LaunchRequest request;
  request.worker = worker;
  request.measure_peak = true;
  request.config = {{"device", options.devices.empty() ? "auto" : options.devices.front()},
                    {"threads", options.threads},
                    {"seconds", options.seconds},
                    {"precisions", nlohmann::json::array()}};
  if (!options.precision.empty()) request.config["precisions"].push_back(options.precision);
  request.scratch = scratch.path();
  request.timeout = std::chrono::duration<double>(3 * options.seconds + kSpareTime_s);
  const auto sink = make_progress_line(options.quiet);
  sink->launch_started(1, 1);
  LaunchOutcome outcome;
  try {
    outcome = run_launch(request, *sink);
  } catch (...) {
    sink->launch_ended();
    throw;
  }
  sink->launch_ended();
  if (guard.interrupted()) outcome.status = LaunchOutcome::Status::interrupted;
  return outcome;
}

std::string utc_seconds() {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
}

std::vector<MeasuredPeak> peaks_of(const LaunchSamples& samples) {
  const Environment& environment = samples.environment;
  std::vector<MeasuredPeak> peaks;
  for (const MatmulRate& rate : samples.matmul_rates) {
    MeasuredPeak peak;
    peak.device = environment.device_name.value_or("");
    if (!environment.cuda) peak.threads = environment.threads;
    peak.precision = rate.precision;
    peak.flop_per_s = rate.flop_per_s;
    peak.spread_ratio = rate.spread_ratio;
    peak.m = rate.shape.m;
    peak.n = rate.shape.n;
    peak.k = rate.shape.k;
    peak.blocks = rate.blocks;
    peak.timed_s = rate.timed_s;
    peak.time = utc_seconds();
    peak.libtorch = environment.libtorch.value_or("");
    peaks.push_back(std::move(peak));
  }
  return peaks;
}

/// A rate that was disturbed is too low, and an MFU against it too high.
void warn_of_noise(const std::vector<MeasuredPeak>& peaks) {
  for (const MeasuredPeak& peak : peaks) {
    if (peak.spread_ratio <= kQuietSpreadRatio) continue;
    write_error(fmt::format(
        "the {} rate varied by {:.0f} % while it was measured: other work ran beside it, so it is too low "
        "and MFU will read too high; see flopmark doctor, and measure again on a quiet machine",
        peak.precision, 100 * (peak.spread_ratio - 1)));
  }
}

}  // namespace

ExitCode run_peak_measure(const PeakOptions& options) {
  const std::filesystem::path file = measured_peaks_path();
  read_measured_peaks(file);  // a damaged file is told of before measuring
  const LaunchOutcome outcome = search_peak(options);
  if (outcome.status == LaunchOutcome::Status::interrupted) {
    write_error("interrupted before the peak was measured; nothing was kept");
    return ExitCode::interrupted;
  }
  if (outcome.failure) throw judge_error("the peak was not measured: " + failure_text(*outcome.failure));
  const std::vector<MeasuredPeak> peaks = peaks_of(*outcome.samples);
  if (peaks.empty() || peaks.front().device.empty()) {
    throw judge_error(
        "the worker measured no peak of a device with a name; measure for longer with --seconds");
  }
  keep_measured_peaks(file, peaks);
  const std::string shown = display_path(file);
  write_output(options.format == "json" ? measured_peaks_json(peaks, shown).dump(2) + "\n"
                                        : measured_peaks_report(peaks, shown));
  warn_of_noise(peaks);
  return ExitCode::ok;
}

}  // namespace flopmark
