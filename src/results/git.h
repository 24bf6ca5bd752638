#pragma once

#include <filesystem>
#include <optional>

#include "flopmark/record.h"

namespace flopmark {

/// Commit, dirtiness and branch of the tree that holds `folder`. Never throws: where there is no repository,
/// no commit, no work tree, or Git refuses, `reason` says so in Git's words and the rest is absent (only
/// `dirty`, if only that could not be found out). Dirtiness ignores baselines/ and results/ at the top of the
/// tree; new files that are not ignored count. Runs no program, hook or filter of the repository.
Subject inspect_tree(const std::filesystem::path& folder);

/// Top of the work tree that holds `folder`; absent outside one.
std::optional<std::filesystem::path> tree_top(const std::filesystem::path& folder);

/// Whether what `file` holds is in no commit: modified, new (even if ignored), or outside every Git tree. A
/// file that does not exist has none.
bool has_uncommitted_changes(const std::filesystem::path& file);

/// Whether Git merges `file` by keeping the lines of both sides (attribute merge=union); true outside a Git
/// tree, where nothing is merged.
bool merges_by_union(const std::filesystem::path& file);

}  // namespace flopmark
