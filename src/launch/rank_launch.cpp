#include "launch/rank_launch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <memory>

#include "launch/rank_outcome.h"
#include "launch/start_worker.h"
#include "launch/worker_watch.h"

namespace flopmark {
namespace {

constexpr const char* kMeetingFile = "meeting";

/// Of every rank that this process starts.
std::vector<RankPlace> places_of(const LaunchRequest& request) {
  if (request.place) return {*request.place};
  std::vector<RankPlace> places;
  const int64_t ranks = ranks_of(request.config);
  for (int64_t rank = 0; rank < ranks; ++rank) {
    RankPlace place;
    place.rank = place.local_rank = rank;
    place.ranks = place.local_ranks = ranks;
    place.meeting_file = (request.scratch / kMeetingFile).string();
    place.meeting = "launch";
    places.push_back(std::move(place));
  }
  return places;
}

/// Never that of a former launch in the same scratch folder.
void remove_meeting(const std::filesystem::path& scratch) {
  std::error_code ignored;
  std::filesystem::remove(scratch / kMeetingFile, ignored);
}

/// Under a launcher nobody here hears that the other ranks have given this one up: a worker that is stopped
/// or stuck has the time that they wait, and the grace.
WatchLimits rank_limits(const LaunchRequest& request) {
  WatchLimits limits = limits_of(request);
  limits.killed_by_signal = true;
  if (request.place) limits.silence = silence_limit(request);
  return limits;
}

/// NCCL's monitor would abort a process whose NCCL hangs, without a word, as if it had crashed; here limits
/// of ours end it, and say so.
AddedVariables rank_variables(const LaunchRequest& request) {
  constexpr const char* kNcclMonitor = "TORCH_NCCL_ENABLE_MONITORING";
  AddedVariables variables;
  if (std::getenv(kNcclMonitor) == nullptr) variables.emplace_back(kNcclMonitor, "0");
  variables.insert(variables.end(), request.environment.begin(), request.environment.end());
  return variables;
}

/// One rank's worker.
struct Rank {
  Rank(const RankPlace& its_place, const LaunchRequest& request, SignalWatch& signals, ProgressSink& sink)
      : place(its_place),
        worker(start_worker(request, {.file_suffix = fmt::format("-{}", its_place.rank),
                                      .arguments = rank_arguments(its_place),
                                      .variables = rank_variables(request)})),
        watch(*worker.process, signals, rank_limits(request), sink) {}

  /// Whether the job cannot go on with it, as far as is known.
  bool is_in_trouble() {
    const WorkerEnd& seen = end ? *end : watch.so_far();
    return seen.failure || seen.error || (end && !ended_well(*end, worker.samples));
  }

  RankPlace place;
  StartedWorker worker;
  WorkerWatch watch;
  std::optional<WorkerEnd> end;
  bool told = false;  ///< is in `troubled`
};

/// The story of a job.
class RankedLaunch {
 public:
  RankedLaunch(const LaunchRequest& request, ProgressSink& sink)
      : request_(request), silent_(make_progress_line(/*quiet=*/true)) {
    remove_meeting(request.scratch);
    for (const RankPlace& place : places_of(request)) {
      ranks_.emplace_back(place, request, signals_, ranks_.empty() ? sink : *silent_);
    }
  }

  LaunchOutcome run() {
    for (auto living = take_ends(); !living.empty(); living = take_ends()) {
      if (!kill_if_interrupted(living)) wait(living);
    }
    std::vector<RankEnd> ends;
    for (Rank& rank : ranks_) ends.push_back({rank.place.rank, std::move(*rank.end), rank.worker.samples});
    return judge_ranks(ends, troubled_, request_);
  }

 private:
  /// Those that go on.
  std::vector<WorkerWatch*> take_ends() {
    std::vector<WorkerWatch*> living;
    for (size_t i = 0; i < ranks_.size(); ++i) {
      Rank& rank = ranks_[i];
      if (!rank.end && rank.watch.is_over()) rank.end = rank.watch.finish();
      if (!rank.end) living.push_back(&rank.watch);
      if (!rank.told && rank.is_in_trouble()) {
        rank.told = true;
        troubled_.push_back(i);
      }
    }
    return living;
  }

  static bool kill_if_interrupted(const std::vector<WorkerWatch*>& living) {
    const bool interrupted = std::any_of(living.begin(), living.end(), [](const WorkerWatch* watch) {
      return watch->so_far().interrupt != 0;
    });
    for (WorkerWatch* watch : living) {
      if (interrupted) watch->kill();
    }
    return interrupted;
  }

  void wait(const std::vector<WorkerWatch*>& living) {
    for (WorkerWatch* watch : living) {
      if (!troubled_.empty()) watch->end_within(request_.peer_grace);
    }
    WorkerWatch::wait(living);
  }

  const LaunchRequest& request_;
  std::unique_ptr<ProgressSink> silent_;
  SignalWatch signals_;
  std::deque<Rank> ranks_;
  std::vector<size_t> troubled_;  ///< in the order in which it showed
};

}  // namespace

int64_t ranks_of(const nlohmann::json& config) {
  const auto parallel = config.find("parallel");
  return parallel == config.end() ? 1 : parallel->value("ranks", int64_t{1});
}

std::chrono::duration<double> silence_limit(const LaunchRequest& request) {
  const auto parallel = request.config.find("parallel");
  const double timeout_s = parallel == request.config.end() ? 60 : parallel->value("timeout_s", 60.0);
  return std::chrono::duration<double>(timeout_s) + request.peer_grace;
}

std::vector<std::string> rank_arguments(const RankPlace& place) {
  std::vector<std::string> arguments = {
      "--rank",       std::to_string(place.rank),       "--ranks",       std::to_string(place.ranks),
      "--local-rank", std::to_string(place.local_rank), "--local-ranks", std::to_string(place.local_ranks)};
  if (place.meeting_file.empty()) {
    const std::string master = fmt::format("{}:{}", place.master_address, place.master_port);
    arguments.insert(arguments.end(), {"--master", master});
  } else {
    arguments.insert(arguments.end(), {"--meeting-file", place.meeting_file});
  }
  arguments.insert(arguments.end(), {"--meeting", place.meeting});
  if (place.agent_store) arguments.emplace_back("--agent-store");
  return arguments;
}

LaunchOutcome run_ranks(const LaunchRequest& request, ProgressSink& sink) {
  return RankedLaunch(request, sink).run();
}

}  // namespace flopmark
