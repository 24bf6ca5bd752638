#pragma once

#include <sstream>
#include <string>

#include "fakes/fake_worker_talk.h"
#include "measure/samples.h"

/// The fake worker as one of several ranks. Driven by environment variables:
///   FAKE_RANKS    how some ranks behave, such as "1:kill,2:hang"; the others as FAKE_WORKER says
///   FAKE_LOST     the rank that a "survivor" says it has lost; 1 if not set
namespace flopmark::fake {

/// The mode of this rank.
inline std::string mode_of(const Task& task) {
  std::istringstream modes(variable("FAKE_RANKS", ""));
  for (std::string entry; std::getline(modes, entry, ',');) {
    const size_t colon = entry.find(':');
    if (task.ranks > 1 && std::stoll(entry) == task.rank) return entry.substr(colon + 1);
  }
  return variable("FAKE_WORKER", "ok");
}

/// Makes samples of one rank those of the first of several, all as fast as this one: of a step, 80 % until
/// the last collective could start, 15 % inside collectives, 5 % exposed.
inline void add_ranks(const Task& task, LaunchSamples& samples) {
  if (task.ranks == 1 || task.rank > 0) return;
  BlockSamples& timed = samples.timed;
  for (int64_t rank = 0; rank < task.ranks; ++rank) {
    RankSamples each;
    each.rank = rank;
    each.host = "fake-host";
    each.device_name = samples.environment.device_name.value_or("");
    each.step_s = timed.step_s;
    each.compute_s = 0.8 * task.step_s;
    each.communication_s = 0.15 * task.step_s;
    each.communication_exposed_s = 0.05 * task.step_s;
    each.samples = timed.samples;
    each.tokens = timed.tokens;
    each.images = timed.images;
    each.communication_bytes = 4 * samples.parameters;
    samples.ranks.push_back(std::move(each));
  }
  timed.samples *= task.ranks;
  timed.tokens *= task.ranks;
  timed.images *= task.ranks;
  samples.communication = CommunicationSamples{"gloo", "all_reduce", 0.05, ""};
}

/// Says, a moment after its step began, that it lost another rank.
inline int survive(const Task& task, int64_t step) {
  go_to_step(task, step);
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  const int64_t lost = std::stoll(variable("FAKE_LOST", "1"));
  Failure failure{kPeerLost, "timed", step, "no word from rank " + std::to_string(lost)};
  failure.rank = lost;
  failure.host = "fake-host";
  say(task, format_failure(failure));
  return kWorkerSentFailure;
}

}  // namespace flopmark::fake
