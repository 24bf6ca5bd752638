#pragma once

#include <filesystem>
#include <optional>

#include "flopmark/record.h"

namespace flopmark {

/// Commit, dirtiness and branch of the tree that holds `folder`. Never throws: where there is no repository, no commit,
/// or Git refuses, `reason` says so and the rest is absent. Dirtiness ignores baselines/ and results/ at the top.
Subject inspect_tree(const std::filesystem::path& folder);

/// Top of the work tree that holds `folder`; absent outside one.
std::optional<std::filesystem::path> tree_top(const std::filesystem::path& folder);

/// Whether `file` has changes that are not committed (new files that are untracked count as changed).
bool has_uncommitted_changes(const std::filesystem::path& file);

}  // namespace flopmark
