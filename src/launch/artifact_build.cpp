#include "launch/artifact_build.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <system_error>

#include "flopmark/error.h"
#include "launch/build_command.h"
#include "launch/submodules.h"

namespace flopmark {
namespace {

namespace fs = std::filesystem;

/// The repository's own folder, which all its worktrees share.
fs::path common_folder(const GitProgram& git, const fs::path& top) {
  return fs::weakly_canonical(top / git.output_of({"rev-parse", "--git-common-dir"}));
}

fs::path folder_of(const ArtifactPlan& plan, const fs::path& repository) {
  const std::string what = repository.string() + "\n" + plan.command + "\n" + plan.artifact.string();
  return artifact_cache(plan.cache) / fmt::format("{:016x}", text_hash(what));
}

void check_writable(const fs::path& repository) {
  if (::access(repository.c_str(), W_OK) == 0) return;
  throw usage_error(
      fmt::format("the repository {} cannot be written ({}), and a worktree for the builds needs an entry in "
                  "it; bisect a clone of your own: git clone {}",
                  repository.string(), std::strerror(errno), repository.string()));
}

}  // namespace

ArtifactBuilder::ArtifactBuilder(ArtifactPlan plan)
    : plan_(std::move(plan)), git_(plan_.top, plan_.scratch, plan_.interrupted) {
  const fs::path repository = common_folder(git_, plan_.top);
  check_writable(repository);
  folder_ = folder_of(plan_, repository);
  tree_ = folder_ / "tree";
  make_cache_folder(folder_ / "logs");
  lock_ = FileLock::take(folder_ / "lock");
  if (!lock_) {
    throw usage_error(
        fmt::format("another flopmark is building commits of {} with this command; wait until it has ended",
                    repository.string()));
  }
  forget_left_worktree();
}

/// Of a run that was killed: git still knows it, and it may be half made.
void ArtifactBuilder::forget_left_worktree() {
  std::error_code ignored;
  end_left_processes(tree_);
  if (fs::exists(tree_ / ".git", ignored)) git_.forget_worktree(tree_, !has_submodules(tree_));
  fs::remove_all(tree_.string() + ".kept", ignored);
}

ArtifactBuilder::~ArtifactBuilder() {
  if (attached_) git_.forget_worktree(tree_, !has_submodules(tree_));
}

fs::path ArtifactBuilder::log(const std::string& commit) const {
  return folder_ / "logs" / (commit + ".log");
}

fs::path ArtifactBuilder::kept(const std::string& commit) const {
  return folder_ / "artifacts" / commit;
}

BuiltArtifact ArtifactBuilder::build(const std::string& commit) {
  std::optional<BuiltArtifact> found = find_artifact(kept(commit));
  if (found) return *found;
  make(commit);
  limit_artifacts(plan_.cache, plan_.cache_bytes);
  found = find_artifact(kept(commit));
  if (!found) throw usage_error(fmt::format("{} was removed meanwhile", kept(commit).string()));
  found->from_cache = false;
  return *found;
}

void ArtifactBuilder::make(const std::string& commit) {
  if (plan_.builds) plan_.builds(commit);
  const auto begun = std::chrono::steady_clock::now();
  std::error_code ignored;
  fs::remove(log(commit), ignored);
  const BuildCommand command{plan_.command, commit, tree_, log(commit), plan_.interrupted, plan_.timeout_s};
  check_out(commit);
  run_build(command);
  const fs::path artifact = tree_ / plan_.artifact;
  if (!fs::is_regular_file(artifact, ignored)) refuse_missing_artifact(command, plan_.artifact);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
  const std::string hash = git_.output_of({"hash-object", "--no-filters", "--", artifact.string()});
  keep_artifact(artifact, kept(commit), {{}, hash, took.count(), false});
}

void ArtifactBuilder::check_out(const std::string& commit) {
  std::error_code ignored;
  if (!fs::exists(tree_ / ".git", ignored)) attached_ = false;  // a build may have removed it
  if (attached_) fs::remove_all(tree_ / plan_.artifact, ignored);
  if (!attached_) attach(commit);
  const GitProgram git(tree_, plan_.scratch, plan_.interrupted);
  fs::remove(tree_ / git.output_of({"rev-parse", "--git-path", "index.lock"}), ignored);  // a killed build's
  git.output_of({"checkout", "--force", "--detach", "--quiet", commit});
  git.output_of({"clean", "-ffdq"});
  update_submodules(git, tree_, common_folder(git_, plan_.top));
}

void ArtifactBuilder::attach(const std::string& commit) {
  std::error_code ignored;
  fs::remove_all(tree_ / plan_.artifact, ignored);
  try {
    if (fs::exists(tree_, ignored))
      git_.adopt_worktree(tree_, commit);
    else
      git_.add_worktree(tree_, commit);
  } catch (const Error& error) {
    if (error.code() != ExitCode::cannot_judge) throw;
    throw usage_error(fmt::format("no worktree for the builds in {}: {}", tree_.string(), error.what()));
  } catch (const fs::filesystem_error& error) {
    throw usage_error(fmt::format("no worktree for the builds in {}: {}", tree_.string(), error.what()));
  }
  attached_ = true;
}

}  // namespace flopmark
