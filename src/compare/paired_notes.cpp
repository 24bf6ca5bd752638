#include "compare/paired_notes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compare/difference_text.h"
#include "compare/step_work.h"
#include "flopmark/counted.h"

namespace flopmark {
namespace {

bool are_alike(const PairedSide& a, const PairedSide& b) {
  return a.worker == b.worker && a.sets == b.sets && a.environment == b.environment && a.commit == b.commit &&
         to_json(a.inputs.config) == to_json(b.inputs.config);
}

int64_t unsteady(const std::vector<LaunchSamples>& launches) {
  return std::count_if(launches.begin(), launches.end(),
                       [](const LaunchSamples& launch) { return !launch.warmup.steady; });
}

std::string loader_note(const LoaderQueue& loader) {
  return fmt::format(
      "data-bound: of a step, {:.0f} % (A) and {:.0f} % (B) is waiting for its data; batches ready when a "
      "turn began: {:g} (A), {:g} (B)",
      loader.wait_ratio_a * 100, loader.wait_ratio_b * 100, loader.depth_a, loader.depth_b);
}

std::vector<std::string> machine_notes(const PairedResult& result) {
  std::vector<std::string> notes;
  if (result.has_ranks) {
    notes.emplace_back(
        "the ranks of two jobs cannot take turns step by step: whole launches in turn, which see less");
  }
  if (result.whole_launches_why) {
    notes.push_back("both did not fit on the device side by side (" + *result.whole_launches_why +
                    "): whole launches in turn instead, which see less");
  }
  if (!result.repeated.empty()) {
    notes.push_back(fmt::format("{} measured again: {}",
                                counted(std::ssize(result.repeated), "pair was", "pairs were"),
                                result.repeated.front()));
  }
  if (const auto disturbed = static_cast<int64_t>(result.disturbed_pairs()); disturbed > 0) {
    notes.push_back(
        fmt::format("{} of {} pairs were disturbed by others on this machine, and are in: the order "
                    "inside a pair is random, so they widen the interval and shift nothing",
                    disturbed, result.pairs.size()));
  }
  const int64_t steady_not = unsteady(result.launches_a) + unsteady(result.launches_b);
  if (steady_not > 0) {
    notes.push_back(fmt::format("{} of {} launches had not become steady when their warm-up ended",
                                steady_not, 2 * result.pairs.size()));
  }
  return notes;
}

std::string failed_text(const PairedResult& result) {
  const SideFailure& failed = *result.failure;
  const std::string what = failed.failure.text.empty() ? "failed" : failed.failure.text;
  return fmt::format("side {} failed in pair {}: {}: {}", failed.side, failed.pair, failed.failure.kind,
                     what);
}

std::string seen_text(const PairedJudgement& judgement) {
  if (judgement.summaries.empty() || !std::isfinite(judgement.smallest_effect_ratio)) return "";
  return fmt::format("; the smallest change that so many pairs find is {:.1f} %",
                     judgement.smallest_effect_ratio * 100);
}

}  // namespace

std::vector<std::string> paired_notes(const PairedComparison& comparison) {
  std::vector<std::string> notes;
  if (are_alike(comparison.a, comparison.b)) {
    notes.emplace_back("A and B are the same: whatever is found here is the machine's own noise");
  }
  if (!comparison.result.pairs.empty()) {
    const auto work =
        differing_work(comparison.result.launches_a.front(), comparison.result.launches_b.front());
    if (work) notes.push_back(step_work_note(*work));
  }
  if (comparison.loader) notes.push_back(loader_note(*comparison.loader));
  for (const auto& more : {other_work_notes(comparison.deterministic), machine_notes(comparison.result)}) {
    notes.insert(notes.end(), more.begin(), more.end());
  }
  return notes;
}

std::string paired_verdict_text(const PairedComparison& comparison) {
  const PairedResult& result = comparison.result;
  if (result.end == PairedEnd::failed) return failed_text(result);
  if (result.end == PairedEnd::not_comparable) return refused_text(comparison.environment_differences);
  std::string text = result.end == PairedEnd::interrupted ? "interrupted; so far: "
                     : result.end == PairedEnd::budget    ? "the budget is used up; "
                                                          : "";
  text += result.judgement.reason;
  if (exit_code(result) == ExitCode::interference) text += "; too much interference on this machine";
  if (result.looked) text += seen_text(result.judgement);
  return text + (comparison.verdict == Verdict::faster ? other_work(comparison.deterministic) : "");
}

}  // namespace flopmark
