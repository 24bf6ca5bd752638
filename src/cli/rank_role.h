#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cli/run_command.h"
#include "config/rank_place.h"
#include "config/run_config.h"

namespace flopmark {

/// What a launcher made of this process, if one started it (launcher_environment.h). From then on what is
/// written to standard error names the rank, unless it is the first. A process that is alone in an allocation
/// for several is told so, unless --quiet. @throws Error 200 for its variables.
std::optional<RankPlace> enter_job(const RunOptions& options);

/// @throws Error 200 if a launcher started this process as one of several: `command` starts what it measures
/// itself, as often as it needs.
void refuse_launcher(const std::string& command);

/// Whether the job's record is the business of another process.
bool is_other_rank(const std::optional<RankPlace>& place);

/// `file` with --set and, in a job that a launcher started, with parallel.ranks as it says.
/// @throws Error 200: as load_config; also where the config asks for another number of ranks.
RunConfig load_config_for_job(const std::string& file, const RunOptions& options);

/// The part of a rank that is not the first: it measures what the first does, writes nothing, and says only
/// what goes wrong. @returns cannot_judge after a launch that failed, interrupted, or ok.
ExitCode measure_as_other_rank(const std::vector<RunConfig>& configs, const RunOptions& options,
                               const std::filesystem::path& worker);

}  // namespace flopmark
