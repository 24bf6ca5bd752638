#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "results/commit_range.h"

namespace flopmark {

/// What is known of a commit. skipped: it cannot be judged.
enum class CommitState { untested, good, bad, skipped };
const char* to_text(CommitState state);  ///< untested, good, bad, skipped

/// Where the first bad commit of a range may lie, and which commit to test next, as `git bisect` has it:
/// every ancestor of a good commit is good, and the first bad one is an ancestor of every bad one. Pure;
/// commits by their index in the range.
class CommitSearch {
 public:
  /// Nothing is known but that the last commit of the range (not empty) is bad and what leads to it from
  /// outside is good.
  explicit CommitSearch(const CommitRange& range);

  /// `state` is good, bad or skipped; of a candidate, or of any commit as it is already known.
  void mark(size_t commit, CommitState state);
  CommitState state(size_t commit) const { return states_.at(commit); }

  /// The bad commit that leads to all candidates; one of them.
  size_t first_bad() const { return first_bad_; }
  /// Commits that may be the first bad one, parents before children.
  const std::vector<size_t>& candidates() const { return candidates_; }
  /// Of candidates the one that halves them best, the oldest of equals; where that was skipped, another some
  /// way off, more often a good one than not. Absent when no candidate is left to test.
  std::optional<size_t> next() const;
  /// Tests until one candidate is left, at most, on a line of commits of which none is skipped.
  size_t most_steps() const;

 private:
  void narrow();
  std::vector<bool> ancestors_of(size_t commit) const;
  std::vector<size_t> reached_candidates() const;

  const std::vector<RangeCommit>* commits_;
  std::vector<CommitState> states_;
  std::vector<bool> known_good_;
  std::vector<size_t> candidates_;
  size_t first_bad_;
};

}  // namespace flopmark
