#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>

#include "config/input_list.h"
#include "hardware/environment.h"
#include "hardware/peak.h"
#include "measure/condition_log.h"
#include "measure/ruler.h"
#include "metrics/metrics.h"
#include "metrics/ranks.h"
#include "results/record_file.h"
#include "results/record_peak.h"
#include "results/run_warnings.h"
#include "stats/quantile.h"

namespace flopmark {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostBlocks = 20;      // per launch: enough to see a trend, short enough for one line
constexpr size_t kLeastBlockSteps = 5;  // a mean of fewer says little

/// Relative to the store where it lies below it, so that a record reads the same in everybody's checkout.
std::string portable_path(const std::string& path, const fs::path& store_root) {
  if (path.empty() || store_root.empty()) return path;
  std::error_code error;
  const fs::path root = fs::weakly_canonical(store_root, error);
  const fs::path inside = fs::weakly_canonical(path, error).lexically_relative(root);
  const bool is_inside = !inside.empty() && !inside.is_absolute() && *inside.begin() != "..";
  return is_inside ? inside.generic_string() : path;
}

/// Means of consecutive blocks as equal in length as can be: at most 20, of at least 5 steps each.
std::vector<double> block_means(const std::vector<double>& step_s) {
  const size_t blocks = std::clamp(step_s.size() / kLeastBlockSteps, size_t{1}, kMostBlocks);
  std::vector<double> means;
  for (size_t block = 0; block < blocks && !step_s.empty(); ++block) {
    const auto from = step_s.begin() + static_cast<std::ptrdiff_t>(block * step_s.size() / blocks);
    const auto to = step_s.begin() + static_cast<std::ptrdiff_t>((block + 1) * step_s.size() / blocks);
    means.push_back(mean({from, to}));
  }
  return means;
}

std::optional<double> finite(double value) {
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

Repeat repeat_of(const LaunchSamples& launch) {
  const BlockSamples& timed = launch.timed;
  Repeat repeat;
  repeat.steps = timed.steps;
  repeat.samples = timed.samples;
  repeat.tokens = timed.tokens;
  repeat.images = timed.images;
  repeat.wall_s = timed.wall_s;
  repeat.block_means_s = block_means(timed.step_s);
  if (!timed.losses.empty()) {
    repeat.loss_first = finite(timed.losses.front());
    repeat.loss_last = finite(timed.losses.back());
  }
  repeat.skipped_steps = timed.skipped_steps;
  repeat.step_s = timed.step_s;
  return repeat;
}

/// Of the launch that needed most steps; steady only if all were, and the reason is then that of one that was
/// not.
std::optional<WarmupSummary> warmup_of(const std::vector<LaunchSamples>& launches) {
  std::optional<WarmupSummary> summary;
  for (const auto& launch : launches) {
    const auto& warmup = launch.warmup;
    const auto steps = static_cast<int64_t>(warmup.step_s.size());
    const bool was_steady = !summary || summary->steady;
    if (!summary || steps > summary->steps) {
      const std::string reason = was_steady ? warmup.reason : summary->reason;
      summary = WarmupSummary{steps, warmup.step_s.empty() ? 0.0 : warmup.step_s.front(), was_steady, reason};
    }
    if (was_steady && !warmup.steady) {
      summary->steady = false;
      summary->reason = warmup.reason;
    }
  }
  return summary;
}

/// Launches that have at least one timed step.
std::vector<LaunchSamples> measured(const std::vector<LaunchSamples>& launches) {
  std::vector<LaunchSamples> result;
  for (const auto& launch : launches) {
    if (launch.timed.steps > 0 && !launch.timed.step_s.empty()) result.push_back(launch);
  }
  return result;
}

std::optional<Failure> failure_of(const RecordInputs& inputs, bool anything_measured) {
  if (inputs.failure) return inputs.failure;
  for (const auto& launch : inputs.launches) {
    if (launch.failure) return launch.failure;
    if (launch.status == "failed")
      return Failure{"error", "timed", std::nullopt, "the worker gave no reason"};
  }
  if (!anything_measured && !inputs.interrupted) {
    return Failure{"error", "timed", std::nullopt, "no step was timed, so there is nothing to judge"};
  }
  return std::nullopt;
}

/// With the batch and inputs of the model's file, where the config left them to it.
RunConfig effective_config(const RecordInputs& inputs) {
  RunConfig config = inputs.config;
  if (!inputs.launches.empty()) take_model_data(config, inputs.launches.front().model_data);
  return config;
}

void add_facts(RunRecord& record, const RecordInputs& inputs) {
  record.name = inputs.config.name;
  record.time = utc_now();
  record.command_line = inputs.command_line;
  record.flopmark_version = FLOPMARK_VERSION;
  record.config = whole_json(effective_config(inputs));
  for (size_t i = 0; i < inputs.config.data.paths.size(); ++i) {
    record.config["data"]["paths"][i] = portable_path(inputs.config.data.paths[i], inputs.store_root);
  }
  for (const auto& [section, key] : {std::pair("data", "path"),
                                     {"data", "plugin"},
                                     {"model", "exported"},
                                     {"model", "plugin"},
                                     {"model", "torchscript"}}) {
    const nlohmann::json::json_pointer place(fmt::format("/{}/{}", section, key));
    if (!record.config.contains(place)) continue;
    nlohmann::json& path = record.config[place];
    path = portable_path(path.get<std::string>(), inputs.store_root);
  }
  record.subject = inputs.subject;
  record.environment = of_ranks(inputs.host, inputs.config.parallel.ranks);
}

void add_launch_facts(RunRecord& record, const RecordInputs& inputs) {
  std::string precision = peak_precision(inputs.config.train.precision);
  if (!inputs.launches.empty()) {
    const LaunchSamples& first = inputs.launches.front();
    record.environment =
        of_ranks(merge_environment(inputs.host, first.environment), inputs.config.parallel.ranks);
    record.data = first.data;
    if (first.data.path) record.data.path = portable_path(*first.data.path, inputs.store_root);
    if (first.parameters > 0) record.parameters = first.parameters;
    if (!first.attention_kernel.empty()) record.attention_kernel = first.attention_kernel;
    if (!first.matmul_precision.empty()) precision = first.matmul_precision;
  }
  for (const auto& launch : inputs.launches) {
    if (!record.flops && launch.flops) {
      record.flops = launch.flops;
      record.flops->by_module.clear();  // thousands of lines for a large model; `flopmark flops` shows them
    }
    record.repeats.push_back(repeat_of(launch));
  }
  record.warmup = warmup_of(inputs.launches);
  add_peak(record, inputs, precision);
}

void add_unknown_metrics(RunRecord& record) {
  for (const auto& row : metric_rows()) record.metrics.values[row.key] = std::nullopt;
}

void append(std::vector<Warning>& warnings, const std::vector<Warning>& more) {
  warnings.insert(warnings.end(), more.begin(), more.end());
}

}  // namespace

std::string utc_now() {
  using std::chrono::milliseconds;
  const auto since_epoch = std::chrono::system_clock::now().time_since_epoch();
  const auto total_ms = std::chrono::duration_cast<milliseconds>(since_epoch).count();
  const auto seconds = static_cast<std::time_t>(total_ms / 1000);
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z", fmt::gmtime(seconds), total_ms % 1000);
}

std::optional<double> utc_seconds(const std::string& time) {
  int year = 0;
  unsigned month = 0, day = 0, hour = 0, minute = 0;
  double second = 0;
  const int found =
      std::sscanf(time.c_str(), "%4d-%2u-%2uT%2u:%2u:%lf", &year, &month, &day, &hour, &minute, &second);
  if (found < 3) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(month),
                                         std::chrono::day(day)};
  if (!date.ok() || hour > 23 || minute > 59 || !(second >= 0 && second < 61)) return std::nullopt;
  const std::chrono::duration<double> since = std::chrono::sys_days(date).time_since_epoch();
  return since.count() + hour * 3600.0 + minute * 60.0 + second;
}

RunRecord assemble_record(const RecordInputs& inputs) {
  RunRecord record;
  add_facts(record, inputs);
  add_launch_facts(record, inputs);

  const std::vector<LaunchSamples> launches = measured(inputs.launches);
  record.failure = failure_of(inputs, !launches.empty());
  add_unknown_metrics(record);
  if (!record.failure && !launches.empty()) {
    record.metrics = compute_metrics({launches, record.peak, record.environment.device_count});
    record.phases = compute_phases(launches);
    record.ranks = summarize_ranks(launches);
    record.communication = summarize_communication(launches);
    record.conditions = merge_conditions(launches);
    record.ruler = merge_rulers(launches);
    append(record.warnings, launch_warnings(launches));
    append(record.warnings, data_warnings(launches));
    append(record.warnings, condition_warnings(launches));
    append(record.warnings, machine_warnings(record));
    append(record.warnings, rank_warnings(record, launches));
  }
  append(record.warnings, subject_warnings(inputs.subject));

  const auto doubt = believability_warning(record);
  if (doubt) record.warnings.insert(record.warnings.begin(), *doubt);
  record.status = record.failure ? "failed" : inputs.interrupted ? "incomplete" : doubt ? "invalid" : "ok";
  return record;
}

}  // namespace flopmark
