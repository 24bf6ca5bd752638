#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "launch/artifact_cache.h"
#include "launch/file_lock.h"
#include "launch/git_program.h"

namespace flopmark {

/// What a bisection builds of each commit, and where.
struct ArtifactPlan {
  std::filesystem::path top;       ///< of the work tree whose repository has the commits
  std::string command;             ///< for /bin/sh -c, run at the top of our worktree
  std::filesystem::path artifact;  ///< the file it makes, relative to that top
  std::filesystem::path cache;     ///< build_cache()
  std::filesystem::path scratch;   ///< an existing folder of this run's own
  std::optional<double> timeout_s = {};
  int64_t cache_bytes = INT64_MAX;  ///< artifacts in the cache, of all bisections together
  std::function<bool()> interrupted = {};
  std::function<void(const std::string& commit)> builds =
      {};  ///< told when a build begins that is not on file
};

/// Builds commits one after another in the same worktree, so that equal sources give equal bytes and builds
/// go on from the one before, and keeps a copy of what each makes. The worktree lies in the cache; the user's
/// tree, index and branches are not touched and no hook runs. What is neither committed nor ignored is
/// removed from the worktree between builds, and so is the artifact: a build that does not make it is
/// noticed. Submodules follow each commit, from the user's own copies of them where there are any.
class ArtifactBuilder {
 public:
  /// @throws Error 200 if the cache or the repository cannot be written, or another flopmark builds there
  /// now.
  explicit ArtifactBuilder(ArtifactPlan plan);
  /// The worktree is forgotten by git; its files stay in the cache.
  ~ArtifactBuilder();
  ArtifactBuilder(const ArtifactBuilder&) = delete;
  ArtifactBuilder& operator=(const ArtifactBuilder&) = delete;

  /// Builds the commit (40 hex digits), or takes what an earlier build made. What was used longest ago makes
  /// room in the cache.
  /// @throws Error 125 if it cannot be checked out, fails, takes too long or does not make the artifact; 130
  /// if interrupted; 200 if the cache is full.
  BuiltArtifact build(const std::string& commit);

  /// Where the output of a commit's build is.
  std::filesystem::path log(const std::string& commit) const;

 private:
  std::filesystem::path kept(const std::string& commit) const;
  void forget_left_worktree();
  void make(const std::string& commit);
  void check_out(const std::string& commit);
  void attach(const std::string& commit);

  ArtifactPlan plan_;
  GitProgram git_;
  std::filesystem::path folder_, tree_;
  std::optional<FileLock> lock_;
  bool attached_ = false;
};

}  // namespace flopmark
