#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "bisect/bisect_world.h"
#include "cli/bisect_narrator.h"
#include "compare/paired_comparison.h"
#include "launch/artifact_build.h"

namespace flopmark {

/// What commits of a bisection are measured with.
struct CommitMeasuring {
  RecordInputs inputs;             ///< config and host as they were at the start
  std::filesystem::path artifact;  ///< relative to the top of the tree
  std::filesystem::path worker;    ///< for a model; empty: as found
  DifferenceOptions differences;
  std::function<bool()> interrupted;
};

/// The bisection's world: commits of a repository, built in one worktree, and real workers side by side.
class CommitPairs : public BisectWorld {
 public:
  /// `git`: of the user's tree. All must outlive it.
  CommitPairs(ArtifactBuilder& builder, const GitProgram& git, const CommitMeasuring& measuring,
              BisectNarrator& narrator)
      : builder_(builder), git_(git), measuring_(measuring), narrator_(narrator) {}

  CommitBuild build(const std::string& commit) override;
  PairedEvidence compare(const ComparisonRequest& request) override;
  void pause(double duration_s) override;
  double now_s() override;
  bool interrupted() override { return measuring_.interrupted(); }
  void begins(const BisectProgress& progress) override { narrator_.begins(progress); }

  /// Of the first launch; absent before.
  const std::optional<Environment>& environment() const { return environment_; }
  size_t builds() const { return builds_; }  ///< that were made, not taken from the cache

 private:
  PairedSide side(const std::string& commit);
  void require_loading(const BuiltArtifact& built) const;
  std::filesystem::path worker_of(const BuiltArtifact& built) const;
  bool is_same_machine(const std::string& commit, const Environment& now);
  std::vector<std::string> doubts(const std::string& commit, const std::string& hash);

  ArtifactBuilder& builder_;
  const GitProgram& git_;
  const CommitMeasuring& measuring_;
  BisectNarrator& narrator_;
  std::map<std::string, std::string> commits_by_hash_;
  std::optional<Environment> environment_;
  std::map<std::string, Environment> environments_;  // of side a, by commit, as it was first
  size_t builds_ = 0;
};

}  // namespace flopmark
