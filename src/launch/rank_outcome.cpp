#include "launch/rank_outcome.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

#include "config/rank_names.h"
#include "launch/launch_outcome.h"
#include "launch/rank_launch.h"
#include "measure/step_loop.h"

namespace flopmark {
namespace {

/// What a rank has to do with the end of its job.
enum class Part { ended_well, own_fault, lost_a_peer, silent, timed_out };

Part part_of(const RankEnd& rank) {
  const WorkerEnd& end = rank.end;
  if (ended_well(end, rank.samples)) return Part::ended_well;
  if (end.failure && end.failure->kind == kPeerLost) return Part::lost_a_peer;
  if (end.failure || end.error || !end.killed_by_us || !end.greeted) return Part::own_fault;
  return end.timed_out ? Part::timed_out : Part::silent;
}

std::string own_host() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "this host";
}

/// Phases in their order; what is not known comes last.
std::ptrdiff_t phase_number(const std::string& phase) {
  using Stage = LoopState::Stage;
  constexpr std::array kInOrder = {Stage::load,   Stage::warmup, Stage::timed,
                                   Stage::cached, Stage::count,  Stage::save};
  const auto* found =
      std::find_if(kInOrder.begin(), kInOrder.end(), [&](Stage stage) { return phase == stage_name(stage); });
  return found - kInOrder.begin();
}

std::pair<std::ptrdiff_t, int64_t> distance(const ProgressUpdate& at) {
  return {phase_number(at.phase), at.step};
}

/// Where a rank was: by its own progress lines, of which two come in a second, or by where others lost it.
ProgressUpdate last_place(const RankEnd& rank, const std::vector<RankEnd>& ends) {
  ProgressUpdate last = rank.end.last;
  for (const RankEnd& other : ends) {
    const auto& failure = other.end.failure;
    if (!failure || failure->kind != kPeerLost || !failure->step) continue;
    const int64_t steps = failure->phase == last.phase ? last.steps : 0;
    const ProgressUpdate seen{failure->phase, *failure->step, steps, 0};
    if (distance(seen) > distance(last)) last = seen;
  }
  return last;
}

/// The first of `troubled` with this part.
std::optional<size_t> first_with(Part part, const std::vector<RankEnd>& ends,
                                 const std::vector<size_t>& troubled) {
  const auto found = std::find_if(troubled.begin(), troubled.end(),
                                  [&](size_t index) { return part_of(ends[index]) == part; });
  return found == troubled.end() ? std::nullopt : std::optional(*found);
}

bool is_named(const RankEnd& rank, const std::vector<RankEnd>& ends) {
  return std::any_of(ends.begin(), ends.end(), [&](const RankEnd& other) {
    return other.end.failure && other.end.failure->rank == rank.rank;
  });
}

/// Of several that said nothing, one that others complain of.
std::optional<size_t> silent_one(const std::vector<RankEnd>& ends, const std::vector<size_t>& troubled) {
  for (const size_t index : troubled) {
    if (part_of(ends[index]) == Part::silent && is_named(ends[index], ends)) return index;
  }
  return first_with(Part::silent, ends, troubled);
}

/// The one that had come least far.
std::optional<size_t> late_one(const std::vector<RankEnd>& ends, const std::vector<size_t>& troubled) {
  const auto late = std::min_element(troubled.begin(), troubled.end(), [&](size_t one, size_t other) {
    return distance(ends[one].end.last) < distance(ends[other].end.last);
  });
  return late == troubled.end() ? std::nullopt : std::optional(*late);
}

std::optional<size_t> cause_of(const std::vector<RankEnd>& ends, const std::vector<size_t>& troubled) {
  if (const auto own = first_with(Part::own_fault, ends, troubled)) return own;
  if (const auto silent = silent_one(ends, troubled)) return silent;
  if (const auto peer = first_with(Part::lost_a_peer, ends, troubled)) return peer;
  return late_one(ends, troubled);
}

/// A loss is the mean over all ranks: which of them made it no number cannot be told.
bool is_of_all(const Failure& failure, const std::vector<RankEnd>& ends, const LaunchRequest& request) {
  const bool several = ends.size() > 1 || (request.place && request.place->ranks > 1);
  return several && failure.kind == "nan_loss";
}

/// Whether no rank is more at fault than another.
bool all_failed_alike(const std::vector<RankEnd>& ends, const RankEnd& cause) {
  return ends.size() > 1 && std::all_of(ends.begin(), ends.end(), [&](const RankEnd& other) {
           const auto &one = other.end.failure, &its = cause.end.failure;
           if (one && its)
             return one->kind == its->kind && one->phase == its->phase && one->step == its->step;
           return !one && !its && other.end.timed_out && cause.end.timed_out &&
                  distance(other.end.last) == distance(cause.end.last);
         });
}

bool all_report(const std::vector<RankEnd>& ends, const WorkerError& error) {
  return std::all_of(ends.begin(), ends.end(), [&](const RankEnd& other) {
    return other.end.error && other.end.error->text == error.text;
  });
}

std::string why_it_hung(const WorkerEnd& end, const LaunchRequest& request) {
  if (!end.fell_silent)
    return "the other ranks waited for it in vain (parallel.timeout_s), and it did not say why";
  return fmt::format(
      "nothing was heard of it for {:g} s (parallel.timeout_s and {:g} s more), though it says where it is "
      "twice a second: is it stopped?",
      silence_limit(request).count(), request.peer_grace.count());
}

Failure hang_failure(const RankEnd& rank, const ProgressUpdate& last, const LaunchRequest& request) {
  Failure failure{"timeout", last.phase, {}, {}};
  if (last.step > 0) failure.step = last.step;
  std::string text = fmt::format("worker hung in phase {}", last.phase);
  if (last.step > 0) text += fmt::format(", step {}", last.step);
  text += fmt::format(": {}; killed", why_it_hung(rank.end, request));
  failure.text = with_log(std::move(text), rank.end);
  return failure;
}

/// The worker's own words, its last lines of output beside them; what one prints that lost another says
/// nothing of the cause.
Failure own_failure(const RankEnd& rank, Failure failure) {
  if (failure.kind == kPeerLost) return failure;
  const bool has_log = !rank.end.failure || (rank.end.status.signal != 0 && failure.kind == "crash");
  if (!has_log) failure.text = with_log(std::move(failure.text), rank.end);
  return failure;
}

/// judge_end with the rank in what it throws.
LaunchOutcome judge_rank(const RankEnd& rank, const std::vector<RankEnd>& ends,
                         const LaunchRequest& request) {
  RankEnd judged = rank;
  judged.end.last = last_place(rank, ends);
  try {
    return judge_end(judged.end, request, judged.samples);
  } catch (const Error& error) {
    const auto& reported = rank.end.error;
    if (ends.size() == 1 || !reported || all_report(ends, *reported)) throw;
    const std::string text = error.what(), origin = fmt::format("rank {}: ", rank.rank);
    throw Error(error.code(), text.starts_with(origin) ? text : origin + text);
  }
}

LaunchOutcome failed_job(const RankEnd& cause, const std::vector<RankEnd>& ends,
                         const LaunchRequest& request) {
  LaunchOutcome outcome;
  if (part_of(cause) == Part::silent) {
    outcome.failure = hang_failure(cause, last_place(cause, ends), request);
  } else {
    outcome.failure = judge_rank(cause, ends, request)
                          .failure.value_or(Failure{"error", cause.end.last.phase, std::nullopt,
                                                    "worker ended without a reason"});
    outcome.failure = own_failure(cause, std::move(*outcome.failure));
  }
  Failure& failure = *outcome.failure;
  if (failure.kind == kPeerLost) return outcome;
  if (is_of_all(failure, ends, request) || all_failed_alike(ends, cause)) {
    failure.rank.reset();
    failure.host.reset();
    return outcome;
  }
  failure.rank = cause.rank;
  failure.host = own_host();
  failure.text = rank_on_host(cause.rank, failure.host) + ": " + failure.text;
  return outcome;
}

}  // namespace

bool ended_well(const WorkerEnd& end, const std::filesystem::path& samples) {
  std::error_code ignored;
  const bool ended = end.greeted && !end.killed_by_us && end.status.signal == 0;
  return ended && !end.failure && !end.error && end.status.code == kWorkerWroteSamples &&
         std::filesystem::exists(samples, ignored);
}

LaunchOutcome judge_ranks(const std::vector<RankEnd>& ends, const std::vector<size_t>& troubled,
                          const LaunchRequest& request) {
  for (const RankEnd& rank : ends) {
    if (rank.end.interrupt == 0) continue;
    LaunchOutcome outcome;
    outcome.status = LaunchOutcome::Status::interrupted;
    outcome.signal = rank.end.interrupt;
    return outcome;
  }
  if (const auto cause = cause_of(ends, troubled)) return failed_job(ends[*cause], ends, request);
  LaunchOutcome first;
  for (const RankEnd& rank : ends) {
    LaunchOutcome outcome = judge_rank(rank, ends, request);
    if (outcome.status != LaunchOutcome::Status::ok) return failed_job(rank, ends, request);
    if (&rank == &ends.front()) first = std::move(outcome);
  }
  return first;
}

}  // namespace flopmark
