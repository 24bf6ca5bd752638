#include "cli/rank_role.h"

#include <fmt/format.h>

#include <chrono>
#include <thread>

#include "cli/measured_run.h"
#include "cli/terminal.h"
#include "flopmark/counted.h"
#include "launch/launcher_environment.h"
#include "report/summary.h"

namespace flopmark {
namespace {

/// A launcher ends the whole job when one of its processes ends badly. The first rank learns of a rank that
/// failed from its own worker, which waits up to 2 s for the others' words and 2 s for them to read its own,
/// and needs a moment more to write the record that says so.
constexpr auto kFirstRankWrites = std::chrono::seconds(10);

/// From then on messages name the rank.
std::optional<RankPlace> own_place() {
  std::optional<RankPlace> place = launcher_place(own_variables());
  if (is_other_rank(place)) set_message_origin(fmt::format("rank {}: ", place->rank));
  return place;
}

bool is_one_of_several(const std::optional<RankPlace>& place) {
  return place && place->ranks > 1;
}

}  // namespace

std::optional<RankPlace> enter_job(const RunOptions& options) {
  std::optional<RankPlace> place = own_place();
  if (place || options.quiet) return place;
  if (const auto note = lone_process_note(own_variables())) write_note(*note);
  return place;
}

void refuse_launcher(const std::string& command) {
  const std::optional<RankPlace> place = own_place();
  if (!is_one_of_several(place)) return;
  throw usage_error(fmt::format(
      "{} starts all ranks itself, as often as it needs, and was started here as one of {}; start "
      "it once, without torchrun, mpirun or srun, and set parallel.ranks",
      command, counted(place->ranks, "rank")));
}

bool is_other_rank(const std::optional<RankPlace>& place) {
  return place && place->rank > 0;
}

RunConfig load_config_for_job(const std::string& file, const RunOptions& options) {
  RunConfig config = load_config(file, options.sets);
  if (!options.place || config.parallel.ranks == options.place->ranks) return config;
  const int64_t ranks = options.place->ranks;
  if (config.parallel.ranks > 1) {
    throw usage_error(fmt::format(
        "{}: parallel.ranks is {}, but the launcher started {}; leave parallel.ranks out under a launcher",
        config.name, config.parallel.ranks, counted(ranks, "rank")));
  }
  std::vector<std::string> sets = options.sets;
  sets.push_back(fmt::format("parallel.ranks={}", ranks));
  return load_config(file, sets);
}

ExitCode measure_as_other_rank(const std::vector<RunConfig>& configs, const RunOptions& options,
                               const std::filesystem::path& worker) {
  ExitCode code = ExitCode::ok;
  for (const RunConfig& config : configs) {
    RecordInputs inputs;
    inputs.config = config;
    run_launches(inputs, {worker, /*quiet=*/true, options.place});
    if (inputs.interrupted) return ExitCode::interrupted;
    if (!inputs.failure) continue;
    write_error(config.name + ": " + failure_text(*inputs.failure));
    code = ExitCode::cannot_judge;
  }
  if (code != ExitCode::ok) std::this_thread::sleep_for(kFirstRankWrites);
  return code;
}

}  // namespace flopmark
