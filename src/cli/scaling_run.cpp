#include "cli/scaling_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "cli/run_checks.h"
#include "cli/run_output.h"
#include "cli/terminal.h"
#include "cli/written_run.h"
#include "config/key_table.h"
#include "config/run_config.h"
#include "flopmark/counted.h"
#include "hardware/environment.h"
#include "launch/launch.h"
#include "launch/printable_text.h"
#include "report/scaling_table.h"

namespace flopmark {
namespace {

constexpr const char* kRanksKey = "parallel.ranks=";
constexpr size_t kShownListBytes = 60;

/// What --scaling says.
struct ScalingList {
  std::string text;
  std::vector<int64_t> counts;  ///< two or more, ascending
};

/// What is wrong with the list, and one that is right.
[[noreturn]] void refuse_list(const std::string& text, const std::string& fault) {
  throw usage_error(
      fmt::format("--scaling \"{}\": {}; give numbers of ranks in ascending order, the first to compare the "
                  "others with, such as --scaling 1,2,4",
                  printable_text(text, kShownListBytes), fault));
}

int64_t count_of(const std::string& word, const std::string& text) {
  const IntegerRange range = find_key("parallel.ranks")->integers;
  int64_t count = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), count);
  if (error == std::errc() && end == word.data() + word.size() && count >= range.min && count <= range.max)
    return count;
  if (word.empty()) refuse_list(text, "there is nothing where a number should be");
  refuse_list(text, fmt::format("\"{}\" is no whole number from {} to {}",
                                printable_text(word, kShownListBytes), range.min, range.max));
}

/// The numbers of "1,2,4". @throws Error 200 unless they are two or more, in ascending order.
ScalingList read_list(const std::string& text) {
  if (text.empty()) refuse_list(text, "it is empty");
  std::vector<int64_t> counts;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    counts.push_back(count_of(text.substr(begin, end - begin), text));
    begin = end + 1;
  }
  if (counts.size() < 2) refuse_list(text, "one number alone compares nothing");
  for (size_t i = 1; i < counts.size(); ++i) {
    if (counts[i] == counts[i - 1]) refuse_list(text, fmt::format("{} is there twice", counts[i]));
    if (counts[i] < counts[i - 1]) refuse_list(text, fmt::format("{} follows {}", counts[i], counts[i - 1]));
  }
  return {text, counts};
}

void check_scaling_uses(const RunOptions& options) {
  const std::pair<const char*, bool> one_record[] = {{"--output", !options.output.empty()},
                                                     {"--save-baseline", options.save_baseline},
                                                     {"--dry-run", options.dry_run}};
  for (const auto& [name, is_given] : one_record) {
    if (!is_given) continue;
    throw usage_error(fmt::format(
        "{} is of one run, and --scaling makes one for each number of ranks; leave one of them out", name));
  }
  for (const std::string& set : options.sets) {
    if (!set.starts_with(kRanksKey)) continue;
    throw usage_error(
        fmt::format("--set {} and --scaling both say how many ranks; leave one of them out", set));
  }
}

/// `file` with each number of ranks.
std::vector<RunConfig> scaled_configs(const std::string& file, const std::vector<int64_t>& counts,
                                      const RunOptions& options) {
  std::vector<RunConfig> configs;
  for (const int64_t count : counts) {
    std::vector<std::string> sets = options.sets;
    sets.push_back(kRanksKey + std::to_string(count));
    configs.push_back(load_config(file, sets));
  }
  return configs;
}

/// The GPU of the last of so many ranks.
std::string gpu_of_last(int64_t ranks) {
  return fmt::format("cuda:{}", ranks - 1);
}

/// What a worker says that has no such device; empty where it has it.
std::string why_no_device(const std::filesystem::path& worker, const std::string& device) {
  try {
    ask_worker_environment(worker, device);
    return "";
  } catch (const Error& error) {
    if (error.code() != ExitCode::usage) throw;
    const std::string text = error.what();
    const size_t last = text.find_last_of('\n');
    const size_t begin = text.find_first_not_of(" \n", last == std::string::npos ? 0 : last);
    return begin == std::string::npos ? text : text.substr(begin);
  }
}

/// The beginning of the list for which there are GPUs.
std::vector<int64_t> counts_with_gpus(const std::vector<int64_t>& counts,
                                      const std::filesystem::path& worker) {
  std::vector<int64_t> fitting;
  for (const int64_t count : counts) {
    if (!why_no_device(worker, gpu_of_last(count)).empty()) break;
    fitting.push_back(count);
  }
  return fitting;
}

[[noreturn]] void refuse_gpus(const ScalingList& list, const std::string& reason,
                              const std::filesystem::path& worker) {
  const std::vector<int64_t> fitting = counts_with_gpus(list.counts, worker);
  const std::string advice =
      fitting.size() > 1
          ? fmt::format("leave out what is too many: --scaling {}", fmt::join(fitting, ","))
          : std::string("take a machine with more, or CPU ranks: --set device=cpu --scaling 1,2");
  throw usage_error(fmt::format("--scaling \"{}\": {} take a GPU each, and here are fewer ({}); {}",
                                list.text, counted(list.counts.back(), "rank"), reason, advice));
}

void warn_of_shared_cores(const ScalingList& list) {
  const auto cpus = host_environment().cpu_logical;
  if (!cpus || *cpus >= list.counts.back()) return;
  write_warning(fmt::format(
      "--scaling \"{}\": {} share this machine's {}, so that their rows say little; no more than {} have one "
      "each",
      list.text, counted(list.counts.back(), "rank"), counted(*cpus, "CPU"), counted(*cpus, "rank")));
}

/// A GPU is one rank's; cores are shared. @throws Error 200 where there are fewer GPUs than ranks.
void check_devices(const RunConfig& config, const ScalingList& list, const std::filesystem::path& worker) {
  if (trains_on_cpu(config)) return warn_of_shared_cores(list);
  const std::string reason = why_no_device(worker, gpu_of_last(list.counts.back()));
  if (reason.empty()) return;
  const bool falls_back = config.device == "auto" && !why_no_device(worker, "cuda").empty();
  falls_back ? warn_of_shared_cores(list) : refuse_gpus(list, reason, worker);
}

/// One config with every number of ranks; stops at the first run that is not whole.
ExitCode measure_scaling(const std::vector<RunConfig>& configs, const RunOptions& options,
                         const std::filesystem::path& worker) {
  std::vector<RunRecord> records;
  ExitCode result = ExitCode::ok;
  for (const RunConfig& config : configs) {
    if (!options.quiet) write_note(fmt::format("{}: parallel.ranks {}", config.name, config.parallel.ranks));
    std::optional<WrittenRun> run = measure_and_write(config, options, worker);
    if (!run) return ExitCode::interrupted;
    const std::string& status = run->record.status;
    if (status == "failed" || status == "incomplete") {
      print_result(run->record, run->path, {});
      result = status == "failed" ? ExitCode::cannot_judge : ExitCode::interrupted;
      break;
    }
    if (status == "invalid") write_warning(run->record.warnings.front().text);
    write_note("record: " + display_path(run->path));
    records.push_back(std::move(run->record));
  }
  if (!records.empty()) write_output(scaling_table(records));
  return result;
}

}  // namespace

ExitCode run_scaling(const RunOptions& options) {
  const ScalingList list = read_list(options.scaling.value_or(""));
  check_scaling_uses(options);
  std::vector<std::vector<RunConfig>> all;
  for (const std::string& file : options.configs) all.push_back(scaled_configs(file, list.counts, options));
  const std::filesystem::path worker = find_worker(options.worker);
  for (const std::vector<RunConfig>& configs : all) {
    check_results(configs, options);
    check_devices(configs.front(), list, worker);
  }
  if (list.counts.front() > 1 && !options.quiet) {
    write_note(
        fmt::format("--scaling \"{0}\": 1 is not among them, so that efficiency is against {1}; "
                    "--scaling 1,{0} has it against one rank",
                    list.text, counted(list.counts.front(), "rank")));
  }
  ExitCode result = ExitCode::ok;
  for (const std::vector<RunConfig>& configs : all) {
    const ExitCode code = measure_scaling(configs, options, worker);
    if (code == ExitCode::interrupted) return code;
    if (result == ExitCode::ok) result = code;
  }
  return result;
}

}  // namespace flopmark
