#pragma once

#include <filesystem>
#include <functional>
#include <string>

namespace flopmark {

/// What to build.
struct BuildRequest {
  std::filesystem::path top;  ///< of the work tree whose repository has the commit
  std::string commit;         ///< 40 hex digits; empty: the work tree as it is (its commit where it is clean)
  std::string command;        ///< for /bin/sh -c, run at the top of a worktree of the commit
  std::filesystem::path artifact;  ///< what it makes, relative to that top
  std::filesystem::path cache;     ///< build_cache()
  std::filesystem::path scratch;   ///< an existing folder of this run's own
  std::function<bool()> interrupted = {};
  std::function<void(const std::string& commit)> builds =
      {};  ///< told when a build begins that is not on file
  std::function<void(const std::string& commit)> waits = {};  ///< told when another flopmark builds it
};

struct BuiltReference {
  std::filesystem::path artifact;  ///< absolute
  std::string commit;              ///< what was built; of a work tree with changes, a commit made for this
};

/// Builds a commit in a worktree in the cache, or takes what an earlier call with the same commit and command
/// built. The user's tree, index and branches are not touched, no hook runs, and the worktree is forgotten by
/// git when the build is over (its files stay in the cache, since programs find their libraries by where they
/// were built; the 16 last used builds are kept). The build has a process group of its own and no terminal.
/// @throws Error 125 if it fails, or does not make the artifact, with the last lines of its log and where
/// that is; 130 if interrupted.
BuiltReference build_reference(const BuildRequest& request);

}  // namespace flopmark
