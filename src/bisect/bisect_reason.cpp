#include "bisect/bisect_reason.h"

#include <fmt/format.h>

#include "compare/paired_reason.h"
#include "flopmark/counted.h"

namespace flopmark {
namespace {

constexpr size_t kShownDigits = 10;

std::string percent(double ratio) {
  return fmt::format("{:.2g} %", 100 * ratio);
}

}  // namespace

std::string short_hash(const std::string& hash) {
  return hash.substr(0, kShownDigits);
}

std::string change_text(const ChangeRange& change, size_t pairs) {
  const std::string range = change.low_ratio && change.high_ratio
                                ? fmt::format(" (from {} to {})", signed_percent(*change.low_ratio),
                                              signed_percent(*change.high_ratio))
                                : "";
  return fmt::format("{}{} after {}", signed_percent(change.change_ratio), range,
                     counted(static_cast<int64_t>(pairs), "pair"));
}

std::string failure_text(const ComparisonRequest& request, const SideFailure& failure) {
  return fmt::format("the worker of {} failed in pair {} ({}): {}",
                     short_hash(failure.side == "a" ? request.a : request.b), failure.pair,
                     failure.failure.kind, failure.failure.text);
}

std::string ends_reason(const PairedJudgement& judgement, const ChangeRange& change, double least_ratio,
                        double traceable_ratio) {
  const std::string found =
      judgement.verdict == Verdict::slower
          ? "bad is slower than good, but not so surely that half of it can be told"
      : judgement.verdict == Verdict::unsure
          ? fmt::format("bad is not shown to be slower than good by more than {}", percent(least_ratio))
          : fmt::format("bad is not slower than good by more than {}", percent(least_ratio));
  return fmt::format("{}: {}; about {} is the smallest regression that so many pairs trace on this machine",
                     found, change_text(change, judgement.pairs), percent(traceable_ratio));
}

std::string verdict_reason(CommitState state, const ChangeRange& change, size_t pairs, double mid_ratio) {
  const char* word = state == CommitState::bad    ? "above"
                     : state == CommitState::good ? "below"
                                                  : "not told from";
  return fmt::format("{}: {} {}", change_text(change, pairs), word, signed_percent(mid_ratio));
}

std::string candidates_reason(const CommitRange& range, const BisectionResult& result) {
  size_t skipped = 0;
  for (const TestedCommit& tested : result.tested) {
    const bool among = std::find(result.candidates.begin(), result.candidates.end(), tested.commit) !=
                       result.candidates.end();
    skipped += among && tested.state == CommitState::skipped ? 1 : 0;
  }
  return fmt::format("the first slower commit is one of {}, up to {}; {} of them could not be judged",
                     result.candidates.size(), short_hash(range.commits[result.candidates.back()].hash),
                     skipped);
}

std::string confirmation_reason(const CommitRange& range, const BisectionResult& result, size_t pairs) {
  return fmt::format(
      "{} is {} its parent {}: {}", short_hash(range.commits[result.candidates.front()].hash),
      result.outcome == BisectOutcome::confirmed ? "slower than" : "not shown to be slower than",
      short_hash(result.parent), change_text(result.change.value_or(ChangeRange{}), pairs));
}

}  // namespace flopmark
