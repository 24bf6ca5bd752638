#include "launch/reference_build.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <vector>

#include "flopmark/error.h"
#include "launch/build_command.h"
#include "launch/file_lock.h"
#include "launch/git_program.h"
#include "results/git.h"

namespace flopmark {
namespace {

namespace fs = std::filesystem;

constexpr size_t kKeptBuilds = 16;
constexpr size_t kCommitInKey = 16;

/// The files of one build in the cache.
struct CachedBuild {
  fs::path tree, log, done;
};

CachedBuild cached_build(const BuildRequest& request, const std::string& commit) {
  const std::string key =
      fmt::format("{}-{:016x}", commit.substr(0, kCommitInKey), text_hash(commit + "\n" + request.command));
  const fs::path folder = request.cache / key;
  return {folder / "tree", folder / "build.log", folder / "done"};
}

/// The clean tree's own commit, or one that holds the changes.
std::string commit_to_build(const BuildRequest& request, const GitProgram& git) {
  if (!request.commit.empty()) return request.commit;
  const std::string head = commit_of(request.top, "HEAD");
  return inspect_tree(request.top).dirty.value_or(true) ? git.snapshot(head) : head;
}

void make_build(const BuildRequest& request, const BuildCommand& command, const GitProgram& git,
                const CachedBuild& build) {
  if (request.builds) request.builds(command.commit);
  std::error_code ignored;
  end_left_processes(build.tree);
  git.forget_worktree(build.tree, false);  // of a run that was killed
  fs::remove_all(build.tree, ignored);
  fs::remove(build.log, ignored);
  git.add_worktree(build.tree, command.commit);
  try {
    run_build(command);
  } catch (const Error&) {
    git.forget_worktree(build.tree, false);
    throw;
  }
  git.forget_worktree(build.tree, true);
  std::ofstream(build.done) << request.command << '\n';
}

/// Of the builds that are done, all but the last used ones.
void remove_old_builds(const fs::path& cache) {
  std::vector<std::pair<fs::file_time_type, fs::path>> builds;
  std::error_code error;
  for (fs::directory_iterator at(cache, error), end; !error && at != end; at.increment(error)) {
    std::error_code missing;
    const auto used = fs::last_write_time(at->path() / "done", missing);
    if (!missing) builds.emplace_back(used, at->path());
  }
  std::sort(builds.rbegin(), builds.rend());
  for (size_t i = kKeptBuilds; i < builds.size(); ++i) {
    std::error_code ignored;
    fs::remove_all(builds[i].second, ignored);
  }
}

}  // namespace

BuiltReference build_reference(const BuildRequest& request) {
  const GitProgram git(request.top, request.scratch, request.interrupted);
  const std::string commit = commit_to_build(request, git);
  const CachedBuild build = cached_build(request, commit);
  const BuildCommand command{request.command, commit, build.tree, build.log, request.interrupted};
  make_cache_folder(build.log.parent_path());
  const auto is_interrupted = [&] { return request.interrupted && request.interrupted(); };
  const auto lock = FileLock::wait(build.log.parent_path() / "lock", {is_interrupted, [&] {
                                                                        if (request.waits)
                                                                          request.waits(commit);
                                                                      }});
  if (!lock) throw Error(ExitCode::interrupted, "interrupted");
  std::error_code error;
  if (!fs::exists(build.done, error)) make_build(request, command, git, build);
  fs::last_write_time(build.done, fs::file_time_type::clock::now(), error);
  remove_old_builds(request.cache);
  const fs::path artifact = build.tree / request.artifact;
  if (!fs::exists(artifact, error)) refuse_missing_artifact(command, request.artifact);
  return {artifact, commit};
}

}  // namespace flopmark
