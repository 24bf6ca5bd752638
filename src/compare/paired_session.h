#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "compare/pair_source.h"
#include "compare/paired_judge.h"

namespace flopmark {

/// A pair as it went in.
struct MeasuredPair {
  std::string time;   ///< when it began: UTC to the millisecond, ISO 8601
  PairRatios ratios;  ///< per token or sample where the steps differ in their number
  std::array<double, kSummaries.size()> a_s{}, b_s{};  ///< step time by each summary
  bool a_first = true;
  bool whole_launches = false;
  int64_t turns = 0;  ///< of each side; 0 for whole launches
  PairConditions conditions;
  std::optional<std::string> disturbed;  ///< a cause of pair_conditions.h held, and no repeat was left
};

/// Why no more pairs were measured. decided: the verdict is sure; cap: all planned looks were taken.
enum class PairedEnd { decided, cap, budget, interrupted, failed, not_comparable };
/// decided, cap, budget, interrupted, failed, not_comparable.
const char* to_text(PairedEnd end);

/// A launch that failed: of side "a" or "b", in which pair (from 1).
struct SideFailure {
  std::string side;
  size_t pair = 0;
  Failure failure;
};

/// One config, measured and judged.
struct PairedResult {
  std::string name;
  std::vector<MeasuredPair> pairs;
  std::vector<LaunchSamples> launches_a, launches_b;  ///< of those pairs
  PairedJudgement judgement;
  PairedEnd end = PairedEnd::cap;
  bool looked = false;                            ///< the first look was reached
  std::optional<SideFailure> failure;             ///< of end failed
  std::optional<std::string> whole_launches_why;  ///< both did not fit on the device: what it said
  bool has_ranks = false;                         ///< of several each: they cannot take turns
  std::vector<std::string> repeated;              ///< causes of pairs measured again

  size_t disturbed_pairs() const;
};

/// The exit code of a comparison: 130 interrupted, 201 not comparable, 125 failed, else the verdict's; 203
/// for one that is unsure after a look, with most of its pairs disturbed.
ExitCode exit_code(const PairedResult& result);
/// The code of several: slower outweighs all but an interruption; then what stops a bisection, then 125.
ExitCode exit_code(const std::vector<PairedResult>& results);

/// Where a session is, for who waits.
struct PairedProgress {
  size_t workload = 0;  ///< from 0
  std::string name;
  size_t pair = 0, most = 0;          ///< pair k, from 1, of at most
  std::optional<double> most_left_s;  ///< at most, of all workloads; absent before the first pair is over
};

struct PairedPlan {
  struct Workload {
    std::string name;
    JudgeRule rule;
    bool has_ranks = false;  ///< a launch of either side has several ranks
  };
  std::vector<Workload> workloads;  ///< rules alike but for their gates
  std::optional<double> budget_s;   ///< no pair is begun that, by the mean so far, would end later
  uint64_t seed = 1;
  std::function<double()> now_s;  ///< monotonic; what it does not count, the budget does not
  /// Asked after the first pair of a workload; false ends it.
  std::function<bool(size_t, const LaunchSamples& a, const LaunchSamples& b)> comparable;
  std::function<bool()> interrupted;
  std::function<void(const PairedProgress&)> pair_begins;
};

/// Measures pairs of all workloads in turn, judges them at every look (Holm over the workloads), and goes on
/// with those that are open until they are decided, at the last look, or out of time. A pair that an outside
/// cause disturbed is measured again, at most one and one in ten more.
std::vector<PairedResult> run_pairs(PairSource& source, const PairedPlan& plan);

}  // namespace flopmark
