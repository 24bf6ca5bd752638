#pragma once

#include <chrono>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "config/rank_place.h"
#include "launch/launch.h"

namespace flopmark {

/// How many ranks a resolved config asks for; 1 where it says nothing of that.
int64_t ranks_of(const nlohmann::json& config);

/// How long nothing may be heard of a worker that a launcher started alone: parallel.timeout_s and the grace.
std::chrono::duration<double> silence_limit(const LaunchRequest& request);

/// The options that tell a worker its place in a job of several, in this order: --rank R --ranks N
/// --local-rank L --local-ranks M, then --meeting-file FILE or --master HOST:PORT (an IPv6 address as it is:
/// the last colon parts them), --meeting NAME, and at the end --agent-store where that is so.
std::vector<std::string> rank_arguments(const RankPlace& place);

/// run_launch for a job of several ranks. Where `request.place` names one, a launcher has started this
/// process for that rank alone, and one worker is started; else all ranks of the config, as workers of this
/// machine that meet through a file in the scratch folder. One of a launcher's that falls silent is killed
/// (silence_limit). The sink hears of rank 0 (of the only one). The
/// first rank that ends badly ends the job: the others have `peer_grace` to end by themselves and are killed
/// then. A signal kills all of them at once: half of a job has no samples. The outcome has rank 0's samples
/// (the only one's); a failure names the rank that caused it and its host.
/// @throws as run_launch; a mistake that only some ranks find is told with their rank.
LaunchOutcome run_ranks(const LaunchRequest& request, ProgressSink& sink);

}  // namespace flopmark
