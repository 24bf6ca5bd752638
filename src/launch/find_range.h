#pragma once

#include <filesystem>
#include <string>

#include "launch/git_program.h"
#include "results/commit_range.h"

namespace flopmark {

/// What to search.
struct RangeRequest {
  std::filesystem::path top;  ///< of the work tree
  std::string good, bad;      ///< commits, branches, tags, HEAD~3, ...
  std::string path;           ///< only commits that changed it, from the top; empty: all
  bool first_parent = false;  ///< merges count as one commit
};

/// The commits between two references, by `git` of that tree. Of those that changed `path` the last is the
/// bad one.
/// @throws Error 200 if either is unknown, if good is no ancestor of bad (reversed, unrelated, on another
/// branch, or cut off by a shallow clone: says which, and what to do), if they are the same, or if no commit
/// between them changed `path`.
CommitRange find_range(const RangeRequest& request, const GitProgram& git);

}  // namespace flopmark
