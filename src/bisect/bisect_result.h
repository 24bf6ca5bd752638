#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "bisect/bisect_world.h"
#include "bisect/regression.h"
#include "bisect/search.h"
#include "flopmark/error.h"

namespace flopmark {

/// confirmed: one commit, and slower than its parent. range: one of several, next to commits that cannot be
/// judged. unconfirmed: one commit, not shown to be slower than its parent. not_measured: an end does not
/// build, or its launches fail. not_reproduced: bad is not slower than good by what this machine can see.
enum class BisectOutcome {
  confirmed,
  range,
  unconfirmed,
  not_measured,
  not_reproduced,
  not_comparable,
  interrupted
};
const char* to_text(BisectOutcome outcome);

/// A commit of the range that was tested, in its turn.
struct TestedCommit {
  size_t commit = 0;  ///< index in the range
  CommitState state = CommitState::untested;
  CommitBuild build;
  std::optional<std::string> same_as;    ///< the commit with the same artifact, whose verdict this is
  std::vector<PairedEvidence> evidence;  ///< against good: none, one, or two if undecided at first
  std::optional<ChangeRange> change;     ///< against good
  bool intermediate = false;             ///< surely slower than good and surely faster than bad
  std::string reason;                    ///< one sentence
};

/// Where another step is: bisect between these as well.
struct OtherHalf {
  std::string good, bad;  ///< 40 hex digits
};

struct BisectionResult {
  BisectOutcome outcome = BisectOutcome::interrupted;
  CommitBuild good_build, bad_build;
  std::vector<PairedEvidence> ends;      ///< good and bad: once, or twice
  std::optional<Regression> regression;  ///< what was looked for in the end
  std::vector<TestedCommit> tested;      ///< every commit that was
  std::vector<size_t> candidates;  ///< indices in the range; the culprit alone of confirmed and unconfirmed
  std::string parent;              ///< of the culprit; 40 hex digits, or empty
  std::vector<PairedEvidence> confirmation;  ///< parent and culprit: none, one, or two if undecided at first
  std::optional<ChangeRange> change;         ///< of the confirmation
  size_t change_pairs = 0;                   ///< that it is of
  std::vector<OtherHalf> other_halves;
  std::optional<double> smallest_traceable_ratio;  ///< of not reproduced, where the ends were measured
  std::string reason;                              ///< one sentence
};

/// 0 confirmed; 125 range, unconfirmed, not measured; 204 not reproduced; 201 not comparable; 130
/// interrupted.
ExitCode exit_code(const BisectionResult& result);

}  // namespace flopmark
