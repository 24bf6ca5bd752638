#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace flopmark {

/// A commit between a good and a bad one.
struct RangeCommit {
  std::string hash;             ///< 40 hex digits
  std::string subject;          ///< first line of its message, as it is
  std::string parent;           ///< hash of its first parent, which may lie outside the range
  std::vector<size_t> parents;  ///< those of its parents that lie in the range, by index
};

/// Commits that lead to `bad` and not to `good`.
struct CommitRange {
  std::string good, bad;             ///< 40 hex digits
  std::vector<RangeCommit> commits;  ///< parents before children; the last one is `bad`
};

}  // namespace flopmark
