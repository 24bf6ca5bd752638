#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "launch/program.h"

namespace flopmark {

/// What git and hooks set to name a repository: no git or build of ours must see them.
std::vector<std::string> variables_of_repositories();

/// The git program where libgit2 does not serve: worktrees, submodules, history as a bisection sees it, and
/// the state of a work tree as a commit. Hooks, file-system monitors, maintenance and questions are off, and
/// variables of a git that calls us (GIT_DIR, GIT_INDEX_FILE, ...) are not passed on.
class GitProgram {
 public:
  /// `top` of a work tree; what git says goes to a file in `scratch`.
  GitProgram(std::filesystem::path top, std::filesystem::path scratch,
             std::function<bool()> interrupted = {});

  /// A commit of the work tree as it is, new files that are not ignored included, baselines/ and results/ at
  /// its top as committed. Index, branches and work tree are not touched; the same state gives the same
  /// commit. @throws Error 125 in git's words, 130 if interrupted.
  std::string snapshot(const std::string& head) const;

  /// Checks `commit` out in a new worktree. @throws as snapshot.
  void add_worktree(const std::filesystem::path& folder, const std::string& commit) const;
  /// Makes a worktree of `folder`, whose files were kept by forget_worktree; nothing is checked out, and
  /// there is no index. @throws as snapshot.
  void adopt_worktree(const std::filesystem::path& folder, const std::string& commit) const;
  /// Makes git forget a worktree; what is in the folder stays if `keep_files`. Never throws.
  void forget_worktree(const std::filesystem::path& folder, bool keep_files) const noexcept;

  struct Answer {
    int code = 0;      ///< exit code
    bool ok = false;   ///< it ended with exit code 0
    std::string text;  ///< what git says
    std::string errors;
  };
  /// Runs git with these arguments at the top of the tree. @throws Error 130 if interrupted.
  Answer ask(const std::vector<std::string>& arguments) const;
  /// The text of an answer that must be ok. @throws as snapshot.
  std::string output_of(const std::vector<std::string>& arguments) const;

 private:
  using Variables = std::vector<std::pair<std::string, std::string>>;
  Answer run(const std::vector<std::string>& arguments, const Variables& set) const;
  std::string output_of(const std::vector<std::string>& arguments, const Variables& set) const;

  std::filesystem::path top_, scratch_;
  std::function<bool()> interrupted_;
};

}  // namespace flopmark
