#include "cli/peak_command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/commands.h"
#include "cli/terminal.h"
#include "hardware/environment.h"
#include "report/peak_report.h"
#include "report/units.h"
#include "results/peak_files.h"

namespace flopmark {
namespace {

/// The peak of a mixed precision is that of its products.
std::optional<std::string> asked_precision(const std::string& given) {
  if (given.empty()) return std::nullopt;
  const size_t mixed = given.find("-mixed");
  const std::string precision = mixed == std::string::npos ? given : given.substr(0, mixed);
  if (find_number_format(precision) != nullptr) return precision;
  std::string known;
  for (const NumberFormat& format : number_formats())
    known += (known.empty() ? "" : ", ") + std::string(format.key);
  throw usage_error(fmt::format("--precision: unknown \"{}\"; known are {}", given, known));
}

/// A device by name, which may be this machine's CPU.
PeakDevice named_device(const std::string& name, const PeakOptions& options, const PeakSources& sources) {
  PeakDevice device;
  device.name = name;
  device.is_cpu = sources.cpu && name == sources.cpu->model.value_or("");
  if (device.is_cpu) device.threads = options.threads > 0 ? options.threads : host_environment().cpu_logical;
  return device;
}

/// Those named; without any, this machine's CPU.
std::vector<PeakDevice> asked_devices(const PeakOptions& options, const PeakSources& sources) {
  std::vector<std::string> names = options.devices;
  if (names.empty()) names.push_back(sources.cpu ? sources.cpu->model.value_or("") : "");
  std::vector<PeakDevice> devices;
  for (const std::string& name : names) devices.push_back(named_device(name, options, sources));
  return devices;
}

std::string dumped(const nlohmann::json& document) {
  return document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

/// Devices of one job: each, and what their peaks add up to.
std::string answer_of_job(const PeakSources& sources, const std::vector<PeakDevice>& devices,
                          const std::string& precision, bool is_json) {
  const Peak sum = sum_of_peaks(sources, devices, precision);
  nlohmann::json document = {
      {"devices", nlohmann::json::array()}, {"sum_flop_per_s", nullptr}, {"reason", nullptr}};
  std::string text;
  for (const PeakDevice& device : devices) {
    document["devices"].push_back(peak_json(sources, {device, precision}));
    text += peak_report(sources, {device, precision}) + "\n";
  }
  if (sum.flop_per_s) document["sum_flop_per_s"] = *sum.flop_per_s;
  if (sum.reason) document["reason"] = *sum.reason;
  if (is_json) return dumped(document);
  return text + fmt::format("sum of {} devices, dense {}: {}\n", devices.size(), precision,
                            format_flop_per_s(sum.flop_per_s));
}

std::string answer(const PeakOptions& options) {
  const PeakSources sources = load_peak_sources(options.peaks);
  const auto precision = asked_precision(options.precision);
  const std::vector<PeakDevice> devices = asked_devices(options, sources);
  const bool is_json = options.format == "json";
  if (devices.size() == 1) {
    const PeakQuestion question{devices.front(), precision};
    return is_json ? dumped(peak_json(sources, question)) : peak_report(sources, question);
  }
  if (!precision) throw usage_error("several --device need --precision: their peaks are added up in one");
  return answer_of_job(sources, devices, *precision, is_json);
}

ExitCode run_peak(const PeakOptions& options) {
  if (!options.measure) {
    write_output(answer(options));
    return ExitCode::ok;
  }
  if (options.devices.size() > 1) throw usage_error("--measure measures one --device at a time");
  return run_peak_measure(options);
}

}  // namespace

void setup_peak(CLI::App& app, Invocation& invocation) {
  const auto options = std::make_shared<PeakOptions>();
  CLI::App* command = app.add_subcommand("peak", "Look a device's peak up, or measure it");
  command
      ->add_option("--device", options->devices, "Whole name of a device (default: this CPU); several add up")
      ->type_name("NAME")
      ->allow_extra_args(false);
  command->add_option("--precision", options->precision, "One precision only, such as bf16")
      ->type_name("NAME");
  command->add_option("--peaks", options->peaks, "Rows that add to or replace the built-in ones")
      ->type_name("FILE");
  command->add_option("--format", options->format, "Form of the answer")
      ->check(CLI::IsMember({"text", "json"}));
  CLI::Option* measure = command->add_flag(
      "--measure", options->measure, "Find the best matmul rate of --device (auto, cpu, cuda:N); keep it");
  command->add_option("--seconds", options->seconds, "Time to measure for, about")
      ->check(CLI::Range(1.0, 3600.0))
      ->needs(measure);
  command->add_option("--threads", options->threads, "CPU threads; 0 (default): all usable cores")
      ->check(CLI::Range(0, 4096));
  command->add_option("--worker", options->worker, "The flopmark-worker to start")
      ->type_name("FILE")
      ->needs(measure);
  command->add_flag("--quiet", options->quiet, "No progress")->needs(measure);
  command->footer(
      "Examples:\n"
      "  flopmark peak --device \"NVIDIA H200\" --precision bf16\n"
      "  flopmark peak --measure");
  command->callback([options, &invocation] { invocation.action = [options] { return run_peak(*options); }; });
}

}  // namespace flopmark
