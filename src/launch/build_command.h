#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "flopmark/error.h"

namespace flopmark {

/// Where builds of commits are kept, per user: builds/ in FLOPMARK_CACHE, else in $XDG_CACHE_HOME/flopmark,
/// else in ~/.cache/flopmark. @throws Error 200 if none of these is set.
std::filesystem::path build_cache();

/// Makes a folder in it. @throws Error 200 naming FLOPMARK_CACHE.
void make_cache_folder(const std::filesystem::path& folder);

/// Tells build commands and folders apart.
uint64_t text_hash(const std::string& text);

/// A build that fails of its own, and would again: neither time nor room ran out (exit code 125).
class FailedBuild : public Error {
 public:
  explicit FailedBuild(const std::string& text) : Error(ExitCode::cannot_judge, text) {}
};

/// The user's command that builds a commit.
struct BuildCommand {
  std::string command;         ///< for /bin/sh -c
  std::string commit;          ///< whose tree it is, for messages
  std::filesystem::path tree;  ///< where it runs
  std::filesystem::path log;   ///< its output is added to this file
  std::function<bool()> interrupted = {};
  std::optional<double> timeout_s = {};
};

/// Ends what an earlier build in `tree` left running because the flopmark that had started it was killed.
void end_left_processes(const std::filesystem::path& tree);

/// Runs it without terminal or input, in a process group of its own.
/// @throws FailedBuild, or Error 125 if its time is up or it is killed, with the last lines of its log and
/// where that is; Error 130 if interrupted.
void run_build(const BuildCommand& build);

/// That it made no `artifact` (relative to the tree). @throws FailedBuild always.
[[noreturn]] void refuse_missing_artifact(const BuildCommand& build, const std::filesystem::path& artifact);

}  // namespace flopmark
