#pragma once

#include <filesystem>

#include "launch/git_program.h"

namespace flopmark {

/// Whether the commit that is checked out in `tree` has submodules.
bool has_submodules(const std::filesystem::path& tree);

/// Puts the submodules of a worktree, and theirs, at the commits it records; `git` is that of the worktree,
/// `repository` the folder that holds the user's own copies of them (modules/), which are taken before the
/// addresses that the commit names. The configuration of the repository stays as it is.
/// @throws Error 125 in git's words.
void update_submodules(const GitProgram& git, const std::filesystem::path& tree,
                       const std::filesystem::path& repository);

}  // namespace flopmark
