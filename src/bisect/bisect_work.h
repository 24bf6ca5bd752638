#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "bisect/bisection.h"

namespace flopmark {

/// Thrown where a bisection ends before it has come to its own end.
struct Ended {
  BisectOutcome outcome;
  std::string reason;
};

inline constexpr const char* kInterruptedReason = "stopped by a signal; --resume goes on";

/// Two commits to tell apart.
struct Question {
  Comparison comparison = Comparison::commit;
  std::string a, b;
  JudgeRule rule;  ///< one gate
  /// Of an undecided change: more pairs would say no more than it does.
  std::function<bool(const ChangeRange&)> settled = [](const ChangeRange&) { return false; };
};

/// A measured answer, perhaps after two attempts.
struct Answer {
  Verdict verdict = Verdict::unsure;
  std::vector<PairedEvidence> evidence;
  std::optional<ChangeRange> change;
  size_t pairs = 0;                    ///< that `change` is of
  std::optional<std::string> failure;  ///< of side b, or of the last attempt
};

/// Builds and comparisons of a bisection, each once: by the journal where it has them, else by the world,
/// within the budget.
class BisectWork {
 public:
  BisectWork(const BisectPlan& plan, BisectWorld& world, Journal& journal, const CommitSearch& search);

  /// Whether the commit builds, and to what. @throws Ended when interrupted or out of time.
  CommitBuild build(const std::string& commit);
  /// One comparison; with a failure of b where that was built before and now does not build.
  /// @throws Ended when interrupted, out of time or not comparable, or where a now does not build.
  PairedEvidence measure(const ComparisonRequest& request);
  /// The same of good and bad: once more after a pause where a launch took too long or could not be had.
  PairedEvidence measure_ends(const ComparisonRequest& request);
  /// Measured until it is decided: once, once more after a pause, and then by all pairs together. A failure
  /// of b is an answer, unless it may pass.
  /// @throws Ended where good fails whenever a commit is compared with it.
  Answer answer(const Question& question);

 private:
  struct Mean {
    size_t count = 0;
    double sum_s = 0;
    void add(double value_s);
    double value_s() const;
  };

  CommitBuild build_now(const std::string& commit);
  std::optional<std::string> missing(const std::string& commit);
  void take(Answer& answer, const std::vector<PairRatios>& pairs, const JudgeRule& rule) const;
  void refuse_cut_short(const ComparisonRequest& request, const PairedEvidence& evidence) const;
  std::optional<double> budget_left_s() const;
  Ended cut_short(const std::string& reason) const;
  /// @throws Ended when interrupted, or where no more than this is left of the budget.
  void require_time(double needed_s = 0) const;
  void pause_before(const std::string& commit);
  void announce(BisectProgress::Activity activity, const std::string& commit,
                std::optional<Comparison> comparison = std::nullopt);

  const BisectPlan& plan_;
  BisectWorld& world_;
  Journal& journal_;
  const CommitSearch& search_;
  double began_s_;
  Mean builds_, comparisons_;      // what they took, of this run
  std::set<std::string> present_;  // built, or found in the cache, by this run
  size_t asked_ = 0;               // comparisons, by the journal or not
};

}  // namespace flopmark
