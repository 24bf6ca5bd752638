#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

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

/// Text of the file `path`, from the top of the tree that holds `folder`, as committed in `reference` (a
/// commit, branch, tag, HEAD~1, ...). Runs nothing of the repository.
/// @throws Error 202 in Git's words: no repository, no such reference or file, or more than 1 GiB.
std::string file_at(const std::filesystem::path& folder, const std::string& reference,
                    const std::string& path);

/// Files below `path` in that commit, from the top of the tree, sorted; none if there is no such folder.
/// @throws Error 202: no repository, no such reference.
std::vector<std::string> files_at(const std::filesystem::path& folder, const std::string& reference,
                                  const std::string& path);

/// Commits that lead to `to` and not to `from` (hashes or references) in the repository of `folder`; absent
/// where there is no repository or it lacks either, as a shallow clone does.
std::optional<int64_t> commits_between(const std::filesystem::path& folder, const std::string& from,
                                       const std::string& to);

/// Whether two commits of the repository of `folder` hold the same files outside baselines/ and results/ at
/// the top of the tree; absent where there is no repository or it lacks either.
std::optional<bool> have_same_files(const std::filesystem::path& folder, const std::string& one,
                                    const std::string& other);

/// The commit, 40 hex digits, that `reference` (a branch, tag, commit, HEAD~1, ...) names in the tree that
/// holds `folder`. @throws Error 200 in Git's words: no repository, no such reference.
std::string commit_of(const std::filesystem::path& folder, const std::string& reference);

/// Whether `git bisect` is at work in the tree that holds `folder`; false outside one.
bool is_bisecting(const std::filesystem::path& folder);

}  // namespace flopmark
