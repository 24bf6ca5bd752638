#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <thread>

#include "cli/commands.h"
#include "cli/doctor_trial.h"
#include "cli/option_checks.h"
#include "cli/terminal.h"
#include "config/run_config.h"
#include "hardware/environment.h"
#include "hardware/nvml.h"
#include "measure/condition_log.h"
#include "report/fitness_report.h"
#include "report/units.h"
#include "results/peak_files.h"

namespace flopmark {
namespace {

constexpr std::chrono::milliseconds kWatch{1000};  // long beside the kernel's tick of 10 ms

struct DoctorOptions {
  std::string config, format = "text";
  std::vector<std::string> sets;
  std::filesystem::path worker, peaks;
  bool no_trial = false, quiet = false;
  double seconds = 30;
};

/// What is to be measured, as far as it matters here.
struct Job {
  std::string device = "auto", precision = "fp32";
  int64_t threads = 0;
  std::optional<double> peak_flop_per_s;
};

Job job_of(const DoctorOptions& options) {
  Job job;
  if (options.config.empty()) return job;
  const RunConfig config = load_config(options.config, options.sets);
  job.device = config.device;
  job.precision = peak_precision(config.train.precision);
  job.threads = config.measure.threads;
  job.peak_flop_per_s = config.peak_flop_per_s;
  return job;
}

CpuShares watch_load() {
  const CpuCounters counters;
  const CpuReading before = counters.read();
  std::this_thread::sleep_for(kWatch);
  return cpu_shares(before, counters.read());
}

/// Nobody of ours is on the device now.
void add_device_use(FitnessFacts& facts) {
  std::string reason;
  const auto nvml = open_nvml(kNvmlLibrary, reason);
  if (!nvml) return;
  const auto& environment = facts.environment;
  const auto device = find_device(*nvml, {environment.device_uuid, environment.device_pci_bus_id});
  if (!device) return;
  std::vector<NvmlProcess> processes(64);
  if (const auto count = device->list_processes(processes))
    facts.device_processes = static_cast<int64_t>(*count);
  const uint64_t bits = device->read().throttle_reasons.value_or(0);
  for (const ThrottleReason& why : throttle_reasons()) {
    if (why.slows && (bits & why.bit) != 0) facts.slowing_reasons.emplace_back(why.name);
  }
}

FitnessFacts facts_of(const Job& job, const DoctorOptions& options) {
  FitnessFacts facts = host_fitness_facts();
  facts.environment = host_environment();
  try {
    facts.environment =
        merge_environment(facts.environment, ask_worker_environment(find_worker(options.worker), job.device));
  } catch (const Error& error) {
    if (error.code() == ExitCode::interrupted || job.device != "auto") throw;
    facts.worker_fault = error.what();
  }
  facts.load = watch_load();
  facts.threads = job.threads > 0 ? std::optional(job.threads) : facts.environment.threads;
  if (facts.environment.cuda) add_device_use(facts);
  return facts;
}

FitnessCheck peak_check(const Job& job, const Environment& environment, const DoctorOptions& options) {
  PeakDevice device;
  device.name = environment.device_name.value_or(environment.cpu_model.value_or(""));
  device.is_cpu = !environment.cuda.has_value();
  device.threads = job.threads > 0 ? std::optional(job.threads) : environment.threads;
  device.sm_count = environment.sm_count;
  device.clock_hz = environment.sm_clock_hz;
  const Peak peak = job.peak_flop_per_s ? resolve_peak(job.peak_flop_per_s, device.name, job.precision)
                                        : find_peak(load_peak_sources(options.peaks), device, job.precision);
  if (peak.flop_per_s) {
    return {"peak", Fitness::ok,
            fmt::format("{} dense {}, source {}", format_flop_per_s(peak.flop_per_s), peak.precision,
                        peak.source),
            ""};
  }
  const std::string threads = job.threads > 0 ? fmt::format(" --threads {}", job.threads) : "";
  return {"peak", Fitness::warn, "MFU will be n/a: " + peak.reason.value_or("no peak is known"),
          "flopmark peak --measure" + (device.is_cpu ? threads : " --device " + job.device)};
}

ExitCode run_doctor(const DoctorOptions& options) {
  const Job job = job_of(options);
  const FitnessFacts facts = facts_of(job, options);
  std::vector<FitnessCheck> checks = check_fitness(facts);
  checks.push_back(peak_check(job, facts.environment, options));
  if (!options.no_trial && !facts.worker_fault) {
    TrialOptions trial;
    trial.device = job.device;
    trial.threads = job.threads;
    trial.seconds = options.seconds;
    trial.run = {find_worker(options.worker), options.quiet};
    const TrialResult result = run_trial(trial);
    if (result.interrupted) return ExitCode::interrupted;
    checks.push_back(noise_check(result));
  }
  write_output(options.format == "json" ? fitness_json(checks) : fitness_text(checks));
  return worst_fitness(checks) == Fitness::bad ? ExitCode::interference : ExitCode::ok;
}

}  // namespace

void setup_doctor(CLI::App& app, Invocation& invocation) {
  const auto options = std::make_shared<DoctorOptions>();
  CLI::App* command = app.add_subcommand("doctor", "Check whether this machine is fit to measure on");
  CLI::Option* config =
      command->add_option("CONFIG", options->config, "For its device, threads, precision and peak")
          ->type_name("FILE");
  command->add_option("--set", options->sets, "Change a key of the config; may be repeated")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false)
      ->needs(config);
  CLI::Option* no_trial = command->add_flag("--no-trial", options->no_trial, "Leave out the noise trial");
  command->add_option("--seconds", options->seconds, "Time for the noise trial, about")
      ->check(CLI::Range(1.0, 3600.0))
      ->excludes(no_trial);
  command->add_option("--format", options->format, "Form of the report")
      ->check(CLI::IsMember({"text", "json"}));
  command->add_option("--worker", options->worker, "The flopmark-worker to start")
      ->type_name("FILE")
      ->check(not_empty());
  command->add_option("--peaks", options->peaks, "Rows that add to or replace the built-in peak table")
      ->type_name("FILE")
      ->check(not_empty());
  command->add_flag("--quiet", options->quiet, "No progress");
  command->footer(
      "Each line says ok, warn or bad, what was found, and the command that changes it.\n"
      "Exit codes: 0 fit, warnings or not; 203 not fit: something is bad.\n"
      "\n"
      "Examples:\n"
      "  flopmark doctor\n"
      "  flopmark doctor configs/quickstart.json --no-trial --format json");
  command->callback(
      [options, &invocation] { invocation.action = [options] { return run_doctor(*options); }; });
}

}  // namespace flopmark
