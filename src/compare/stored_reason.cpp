#include "compare/stored_reason.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compare/difference_text.h"
#include "compare/paired_reason.h"

namespace flopmark {
namespace {

constexpr double kOpenFromRatio = 0.10;

std::string points(double ratio) {
  return fmt::format("{:.1f} %", std::abs(ratio) * 100);
}

std::string tolerance_text(const SummaryComparison& summary) {
  return fmt::format("the {} that two sittings of one build can differ by{}", points(summary.tolerance_ratio),
                     summary.calibrated ? "" : " (uncalibrated)");
}

/// The gate with this change that moved most.
const SummaryComparison& most_moved(const StoredComparison& comparison, Change change) {
  const SummaryComparison* most = nullptr;
  for (const SummaryComparison& summary : comparison.summaries) {
    const bool fits = summary.gates && summary.change == change;
    if (fits && (!most || std::abs(summary.change_ratio) > std::abs(most->change_ratio))) most = &summary;
  }
  return most ? *most : comparison.summaries.front();
}

std::string same_text(const StoredComparison& comparison) {
  std::string changes;
  for (const SummaryComparison& summary : comparison.summaries) {
    if (!summary.gates) continue;
    changes += fmt::format("{}{} {}", changes.empty() ? "" : ", ", step_time_name(summary.summary),
                           signed_percent(summary.change_ratio));
  }
  return fmt::format("{}: within what two sittings of one build can differ by", changes);
}

/// Of times that are no longer, on a machine that became faster.
std::string faster_machine_text(const SummaryComparison& gate, const RulerChange& ruler) {
  return fmt::format(
      "{} changed by {}, but the machine itself is faster than it was ({} for the same work): the program "
      "may be slower; measure the reference again on this machine as it is now",
      step_time_name(gate.summary), signed_percent(gate.change_ratio), signed_percent(ruler.ratio));
}

std::string interference_text(const StoredComparison& comparison) {
  const SummaryComparison& gate = most_moved(comparison, Change::worse);
  return fmt::format("{} is {} longer, but {} while it was measured: measure again when the machine is quiet",
                     step_time_name(gate.summary), points(gate.change_ratio), comparison.interference);
}

std::string ruler_text(const StoredComparison& comparison) {
  const SummaryComparison* step = comparison.throughput();
  return comparison.ruler && step ? ruler_note(*comparison.ruler, step->change_ratio) : "";
}

}  // namespace

std::string stored_reason(const StoredComparison& comparison) {
  switch (comparison.verdict) {
    case Verdict::not_comparable:
      return refused_text(comparison.environment_differences);
    case Verdict::slower: {
      const SummaryComparison& gate = most_moved(comparison, Change::worse);
      return fmt::format("{} is {} longer, beyond {}; unconfirmed", step_time_name(gate.summary),
                         points(gate.change_ratio), tolerance_text(gate));
    }
    case Verdict::faster: {
      const SummaryComparison& gate = comparison.summaries.front();
      return fmt::format("{} is {} shorter, beyond {}{}", step_time_name(gate.summary),
                         points(gate.change_ratio), tolerance_text(gate),
                         other_work(comparison.deterministic));
    }
    case Verdict::unsure: {
      if (!comparison.interference.empty()) return interference_text(comparison);
      const SummaryComparison& gate = most_moved(comparison, Change::unsure);
      if (comparison.ruler && comparison.ruler->ratio < 0 && gate.change_ratio < kOpenFromRatio) {
        return faster_machine_text(gate, *comparison.ruler);
      }
      return fmt::format("{} is {} longer: more than {}, within {}", step_time_name(gate.summary),
                         points(gate.change_ratio), points(kOpenFromRatio), tolerance_text(gate));
    }
    case Verdict::same:
      return same_text(comparison);
  }
  return same_text(comparison);
}

std::vector<std::string> stored_notes(const StoredComparison& comparison, const RunRecord& a,
                                      const RunRecord& b) {
  std::vector<std::string> notes = other_work_notes(comparison.deterministic);
  const std::string machine = ruler_text(comparison);
  if (!machine.empty()) notes.insert(notes.begin(), machine);
  if (a.repeats.size() < 2 || b.repeats.size() < 2) {
    notes.push_back("one launch only: how much launches differ is not known");
  }
  for (const EnvironmentDifference& difference : comparison.environment_differences) {
    if (difference.allowed) notes.push_back(difference.key + " differs and was allowed");
  }
  return notes;
}

}  // namespace flopmark
