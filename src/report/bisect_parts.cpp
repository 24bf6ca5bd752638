#include "report/bisect_parts.h"

#include <fmt/format.h>

#include <algorithm>

#include "bisect/bisect_reason.h"
#include "compare/paired_reason.h"
#include "flopmark/counted.h"
#include "launch/printable_text.h"
#include "launch/progress_line.h"
#include "report/paired_parts.h"
#include "report/units.h"

namespace flopmark {
namespace {

constexpr size_t kSubjectBytes = 60;
constexpr size_t kCellSubjectBytes = 28;
constexpr size_t kShownCandidates = 20;

std::string subject(const RangeCommit& commit, size_t most_bytes = kSubjectBytes) {
  return printable_text(commit.subject, most_bytes);
}

std::string named_commit(const RangeCommit& commit) {
  return fmt::format("{} {}", short_hash(commit.hash), subject(commit));
}

std::string named_end(const std::string& reference, const std::string& commit) {
  return commit.starts_with(reference) ? short_hash(commit)
                                       : fmt::format("{} ({})", printable(reference), short_hash(commit));
}

std::string limits_text(const ChangeRange& change) {
  if (!change.low_ratio || !change.high_ratio) return "n/a";
  return signed_percent(*change.low_ratio) + " to " + signed_percent(*change.high_ratio);
}

std::string change_text(const ChangeRange& change) {
  return fmt::format("{} ({})", signed_percent(change.change_ratio), limits_text(change));
}

std::string range_text(const BisectReport& report) {
  return fmt::format("{} after {}, up to {}", counted(std::ssize(report.range.commits), "commit"),
                     named_end(report.good_reference, report.range.good),
                     named_end(report.bad_reference, report.range.bad));
}

std::string device_text(const Environment& environment) {
  std::string text = printable(environment.device_name.value_or("unknown device"));
  if (environment.threads) text += ", " + counted(*environment.threads, "thread");
  if (environment.libtorch) text += ", LibTorch " + printable(*environment.libtorch);
  if (environment.cuda) text += ", CUDA " + printable(*environment.cuda);
  return text;
}

size_t pairs_of(const std::vector<PairedEvidence>& evidence) {
  size_t pairs = 0;
  for (const PairedEvidence& each : evidence) pairs += each.pairs.size();
  return pairs;
}

size_t pairs_in_all(const BisectionResult& result) {
  size_t pairs = pairs_of(result.ends);
  for (const TestedCommit& tested : result.tested) pairs += pairs_of(tested.evidence);
  return pairs + pairs_of(result.confirmation);
}

std::string verdict_text(const TestedCommit& tested) {
  std::string text = to_text(tested.state);
  if (tested.same_as) return text + ", as " + short_hash(*tested.same_as);
  if (tested.intermediate) text += ", in between";
  return text;
}

std::vector<std::string> tested_row(const TestedCommit& tested, const CommitRange& range) {
  const RangeCommit& commit = range.commits.at(tested.commit);
  const size_t pairs = pairs_of(tested.evidence);
  return {short_hash(commit.hash),
          tested.change ? signed_percent(tested.change->change_ratio) : "",
          tested.change ? limits_text(*tested.change) : "",
          pairs > 0 ? format_count(static_cast<int64_t>(pairs)) : "",
          verdict_text(tested),
          subject(commit, kCellSubjectBytes)};
}

/// The phases and operators of the confirmation, in the form of a comparison.
PairedComparison culprit_changes(const BisectReport& report) {
  PairedComparison changes;
  if (report.result.confirmation.empty()) return changes;
  changes.phases = report.result.confirmation.back().phases;
  changes.operators = report.result.confirmation.back().operators;
  return changes;
}

void add_answer(Facts& facts, const BisectReport& report) {
  const BisectionResult& result = report.result;
  if (const auto culprit = culprit_of(result)) {
    facts.emplace_back("culprit", named_commit(report.range.commits.at(*culprit)));
    if (result.change) {
      facts.emplace_back("change", fmt::format("{} against its parent {}, by {}", change_text(*result.change),
                                               short_hash(result.parent),
                                               counted(static_cast<int64_t>(result.change_pairs), "pair")));
    }
    return;
  }
  const bool searched =
      result.outcome == BisectOutcome::range || result.outcome == BisectOutcome::interrupted;
  for (size_t i = 0; searched && i < result.candidates.size(); ++i) {
    if (i == kShownCandidates) {
      facts.emplace_back("", fmt::format("and {} more, up to {}", result.candidates.size() - i,
                                         named_commit(report.range.commits.at(result.candidates.back()))));
      return;
    }
    facts.emplace_back("candidate", named_commit(report.range.commits.at(result.candidates[i])));
  }
}

}  // namespace

std::optional<size_t> culprit_of(const BisectionResult& result) {
  const bool is_one =
      result.outcome == BisectOutcome::confirmed || result.outcome == BisectOutcome::unconfirmed;
  if (!is_one || result.candidates.size() != 1) return std::nullopt;
  return result.candidates.front();
}

Facts bisect_facts(const BisectReport& report) {
  Facts facts{
      {"config", printable(report.config)},
      {"range", range_text(report)},
      {"build", fmt::format("{}; measured is {}", printable(report.build), printable(report.artifact))}};
  if (report.environment) facts.emplace_back("device", device_text(*report.environment));
  facts.emplace_back("cost", fmt::format("{}, {} of launches, {}; seed {}",
                                         counted(static_cast<int64_t>(report.builds), "build"),
                                         counted(static_cast<int64_t>(pairs_in_all(report.result)), "pair"),
                                         wait_text(report.took_s), report.seed));
  if (const auto& regression = report.result.regression) {
    facts.emplace_back(
        "sought", fmt::format("{} {} from good to bad; bad is above {}", step_time_name(regression->gate),
                              change_text(regression->change), signed_percent(regression->mid_ratio())));
  }
  add_answer(facts, report);
  return facts;
}

Grid bisect_commit_grid(const BisectReport& report) {
  Grid grid{"lrlrll", {{"commit", "change", "limits", "pairs", "verdict", "subject"}}};
  std::vector<TestedCommit> tested = report.result.tested;
  std::stable_sort(tested.begin(), tested.end(),
                   [](const TestedCommit& x, const TestedCommit& y) { return x.commit < y.commit; });
  for (const TestedCommit& each : tested) grid.rows.push_back(tested_row(each, report.range));
  return grid;
}

Grid bisect_phase_grid(const BisectReport& report) {
  return paired_phase_grid(culprit_changes(report));
}

Grid bisect_operator_grid(const BisectReport& report) {
  return paired_operator_grid(culprit_changes(report));
}

std::vector<std::string> bisect_notes(const BisectReport& report) {
  std::vector<std::string> notes;
  for (const TestedCommit& tested : report.result.tested) {
    const std::string commit = short_hash(report.range.commits.at(tested.commit).hash);
    if (tested.state == CommitState::skipped) notes.push_back(fmt::format("{}: {}", commit, tested.reason));
    for (const std::string& doubt : tested.build.notes) notes.push_back(doubt);
  }
  for (const OtherHalf& half : report.result.other_halves) {
    notes.push_back(fmt::format("there is more than one step; another lies between {} and {}",
                                short_hash(half.good), short_hash(half.bad)));
  }
  return notes;
}

}  // namespace flopmark
