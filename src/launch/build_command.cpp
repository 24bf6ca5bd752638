#include "launch/build_command.h"

#include <fmt/format.h>
#include <signal.h>

#include <cstdlib>
#include <deque>
#include <fstream>
#include <iterator>
#include <span>
#include <system_error>

#include "data/content_hash.h"
#include "flopmark/error.h"
#include "launch/git_program.h"
#include "launch/printable_text.h"
#include "launch/program.h"

namespace flopmark {
namespace {

namespace fs = std::filesystem;

constexpr size_t kShownLines = 15;
constexpr size_t kShownLineBytes = 300;
constexpr size_t kShownCommitDigits = 10;
constexpr const char* kTreeVariable = "FLOPMARK_BUILD_TREE";

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

std::string end_text(const ProgramEnd& end, const BuildCommand& build) {
  if (end.timed_out) return fmt::format("was stopped after {:g} s", build.timeout_s.value_or(0));
  return end.signal != 0 ? fmt::format("was killed by signal {}", end.signal)
                         : fmt::format("ended with exit code {}", end.code);
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

void make_cache_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (!error) return;
  throw usage_error(fmt::format("cannot make {} for a build: {}; name another place in FLOPMARK_CACHE",
                                folder.string(), error.message()));
}

uint64_t text_hash(const std::string& text) {
  ContentHash hash;
  hash.add(std::as_bytes(std::span(text)));
  return hash.value();
}

/// Every process carries the variables it was started with; those of others cannot be read.
void end_left_processes(const fs::path& tree) {
  const std::string wanted = fmt::format("{}={}", kTreeVariable, tree.string()) + '\0';
  std::error_code error;
  for (fs::directory_iterator at("/proc", error), end; !error && at != end; at.increment(error)) {
    const int pid = std::atoi(at->path().filename().c_str());
    if (pid <= 0) continue;
    std::ifstream in(at->path() / "environ", std::ios::binary);
    const std::string variables{std::istreambuf_iterator<char>(in), {}};
    if (('\0' + variables).find('\0' + wanted) != std::string::npos) ::kill(pid, SIGKILL);
  }
}

void run_build(const BuildCommand& build) {
  Program program;
  program.command = {"/bin/sh", "-c", build.command};
  program.folder = build.tree;
  program.log = build.log;
  program.set = {{kTreeVariable, build.tree.string()}};
  program.unset = variables_of_repositories();
  program.interrupted = build.interrupted;
  program.timeout_s = build.timeout_s;
  const ProgramEnd end = run_program(program);
  if (end.interrupted) throw Error(ExitCode::interrupted, "interrupted while building " + build.commit);
  if (end.ok()) return;
  const std::string text =
      fmt::format("build of {}: `{}` {}; its last lines:{}\nlog: {}",
                  build.commit.substr(0, kShownCommitDigits), printable_text(build.command, kShownLineBytes),
                  end_text(end, build), last_lines(build.log), build.log.string());
  if (end.timed_out || end.signal != 0) throw judge_error(text);
  throw FailedBuild(text);
}

void refuse_missing_artifact(const BuildCommand& build, const fs::path& artifact) {
  throw FailedBuild(fmt::format(
      "build of {}: it made no {}; name what it makes with --artifact, relative to the top of the tree\n"
      "log: {}",
      build.commit.substr(0, kShownCommitDigits), artifact.string(), build.log.string()));
}

}  // namespace flopmark
