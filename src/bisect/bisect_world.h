#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compare/paired_changes.h"
#include "compare/paired_session.h"

namespace flopmark {

/// What came of building a commit.
struct CommitBuild {
  bool built = false;         ///< and what is measured was made
  std::string artifact_hash;  ///< of its bytes, where built: equal ones are not measured twice
  std::string why_not;        ///< where not built: one line
  double took_s = 0;
  bool from_cache = false;
  std::vector<std::string> notes;  ///< doubts for the reader, such as an artifact that no build touched
  bool lasting = true;             ///< where not built: it would fail again; neither time nor room ran out
};

/// Why two commits are compared.
enum class Comparison {
  ends,          ///< good and bad: is there a regression to look for, and how large
  ends_again,    ///< once more, against half of that, where the first answer was a close one
  commit,        ///< good and a commit between
  confirmation,  ///< the culprit and its parent
};
const char* to_text(Comparison comparison);  ///< ends, ends_again, commit, confirmation

/// Two commits to compare; both are built by then.
struct ComparisonRequest {
  Comparison comparison = Comparison::commit;
  std::string a, b;  ///< 40 hex digits; change = b / a - 1
  JudgeRule rule;
  size_t attempt = 1;                   ///< 2: undecided before, and measured afresh after a pause
  uint64_t seed = 1;                    ///< of who goes first
  std::optional<double> budget_s = {};  ///< that is left
};

/// Kind of a failure: a launch could not be had, for whatever reason.
inline constexpr const char* kNotStarted = "not_started";

/// What was measured of two commits.
struct PairedEvidence {
  std::vector<PairRatios> pairs;  ///< b / a
  PairedJudgement judgement;      ///< of them, by the request's rule; run_bisection fills it in
  PairedEnd end = PairedEnd::cap;
  std::optional<SideFailure> failure;  ///< of end failed
  size_t disturbed_pairs = 0;
  double took_s = 0;
  std::vector<PhaseChange> phases;
  std::vector<OperatorChange> operators;  ///< those that changed
};

/// Where a bisection is, for who waits.
struct BisectProgress {
  enum class Activity { building, comparing, pausing };
  Activity activity = Activity::building;
  std::string commit;  ///< 40 hex digits; of a comparison, side b
  std::optional<Comparison> comparison;
  size_t candidates = 0;                  ///< that are left
  size_t most_steps = 0;                  ///< tests left, this one included, if none is skipped
  std::optional<double> expected_left_s;  ///< from what builds and comparisons took so far
};

/// What a bisection acts on: a repository and a machine, or a test's own numbers.
class BisectWorld {
 public:
  virtual ~BisectWorld() = default;
  /// Makes what is measured of a commit, or takes it from the cache; it stays there while the bisection
  /// lasts.
  /// @throws Error 130 if interrupted; any other Error ends the bisection.
  virtual CommitBuild build(const std::string& commit) = 0;
  /// Measures pairs until the rule is decisive or its looks are used up. Interruption is an end, no Error.
  virtual PairedEvidence compare(const ComparisonRequest& request) = 0;
  /// Waits, less when interrupted.
  virtual void pause(double duration_s) = 0;
  virtual double now_s() = 0;  ///< monotonic
  virtual bool interrupted() = 0;
  virtual void begins(const BisectProgress& progress) = 0;
};

}  // namespace flopmark
