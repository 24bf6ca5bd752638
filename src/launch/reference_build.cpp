#include "launch/reference_build.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <fstream>
#include <span>
#include <vector>

#include "data/content_hash.h"
#include "flopmark/error.h"
#include "launch/file_descriptor.h"
#include "launch/git_program.h"
#include "launch/printable_text.h"
#include "results/git.h"

namespace flopmark {
namespace {

namespace fs = std::filesystem;

constexpr size_t kKeptBuilds = 16;
constexpr size_t kShownLines = 15;
constexpr size_t kShownLineBytes = 300;
constexpr size_t kCommitInKey = 16;

/// Tells build commands apart.
uint64_t text_hash(const std::string& text) {
  ContentHash hash;
  hash.add(std::as_bytes(std::span(text)));
  return hash.value();
}

/// Held while a build's folder is used or made, so that two runs do not build one thing at a time.
class BuildLock {
 public:
  explicit BuildLock(const fs::path& file) : lock_(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644)) {
    if (!lock_) throw usage_error(fmt::format("cannot write {}: {}", file.string(), std::strerror(errno)));
    while (::flock(lock_.get(), LOCK_EX) != 0 && errno == EINTR) {
    }
  }

 private:
  FileDescriptor lock_;
};

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

std::string last_lines(const fs::path& log) {
  std::ifstream in(log);
  std::deque<std::string> lines;
  for (std::string line; std::getline(in, line);) {
    if (line.empty()) continue;
    lines.push_back(printable_text(line, kShownLineBytes));
    if (lines.size() > kShownLines) lines.pop_front();
  }
  std::string text;
  for (const std::string& line : lines) text += "\n  " + line;
  return text.empty() ? "\n  (it printed nothing)" : text;
}

std::string end_text(const ProgramEnd& end) {
  return end.signal != 0 ? fmt::format("was killed by signal {}", end.signal)
                         : fmt::format("ended with exit code {}", end.code);
}

/// The clean tree's own commit, or one that holds the changes.
std::string commit_to_build(const BuildRequest& request, const GitProgram& git) {
  if (!request.commit.empty()) return request.commit;
  const std::string head = commit_of(request.top, "HEAD");
  return inspect_tree(request.top).dirty.value_or(true) ? git.snapshot(head) : head;
}

void make_build(const BuildRequest& request, const std::string& commit, const GitProgram& git,
                const CachedBuild& build) {
  if (request.builds) request.builds(commit);
  std::error_code ignored;
  git.forget_worktree(build.tree, false);  // of a run that was killed
  fs::remove_all(build.tree, ignored);
  fs::remove(build.log, ignored);
  git.add_worktree(build.tree, commit);
  Program program;
  program.command = {"/bin/sh", "-c", request.command};
  program.folder = build.tree;
  program.log = build.log;
  program.unset = {"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX"};
  program.interrupted = request.interrupted;
  const ProgramEnd end = run_program(program);
  git.forget_worktree(build.tree, end.ok());
  if (end.interrupted) throw Error(ExitCode::interrupted, "interrupted while building " + commit);
  if (!end.ok()) {
    throw judge_error(fmt::format("build of {}: `{}` {}; its last lines:{}\nlog: {}", commit.substr(0, 10),
                                  printable_text(request.command, kShownLineBytes), end_text(end),
                                  last_lines(build.log), build.log.string()));
  }
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

fs::path build_cache() {
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value == nullptr ? "" : value);
  };
  if (const std::string own = variable("FLOPMARK_CACHE"); !own.empty()) return fs::absolute(own) / "builds";
  if (const std::string user = variable("XDG_CACHE_HOME"); !user.empty()) {
    return fs::absolute(user) / "flopmark" / "builds";
  }
  const std::string home = variable("HOME");
  if (home.empty()) {
    throw usage_error(
        "there is no place to keep builds: none of FLOPMARK_CACHE, XDG_CACHE_HOME and HOME is set");
  }
  return fs::absolute(home) / ".cache" / "flopmark" / "builds";
}

BuiltReference build_reference(const BuildRequest& request) {
  const GitProgram git(request.top, request.scratch, request.interrupted);
  const std::string commit = commit_to_build(request, git);
  const CachedBuild build = cached_build(request, commit);
  std::error_code error;
  fs::create_directories(build.log.parent_path(), error);
  if (error) {
    throw usage_error(fmt::format("cannot make {} for a build: {}; name another place in FLOPMARK_CACHE",
                                  build.log.parent_path().string(), error.message()));
  }
  const BuildLock lock(build.log.parent_path() / "lock");
  if (!fs::exists(build.done, error)) make_build(request, commit, git, build);
  fs::last_write_time(build.done, fs::file_time_type::clock::now(), error);
  remove_old_builds(request.cache);
  const fs::path artifact = build.tree / request.artifact;
  if (!fs::exists(artifact, error)) {
    throw judge_error(
        fmt::format("build of {}: it made no {}; name what it makes with --artifact, relative to the top of "
                    "the tree; log: {}",
                    commit.substr(0, 10), request.artifact.string(), build.log.string()));
  }
  return {artifact, commit};
}

}  // namespace flopmark
