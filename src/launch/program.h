#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace flopmark {

/// A program to run to its end, without terminal or input.
struct Program {
  std::vector<std::string> command;      ///< name or path (looked for in PATH), and arguments
  std::filesystem::path folder;          ///< where it runs
  std::filesystem::path log;             ///< its standard output and error are added to this file
  std::filesystem::path error_log = {};  ///< its standard error, where that is to be apart
  std::vector<std::pair<std::string, std::string>> set = {};  ///< variables, over our own environment's
  std::vector<std::string> unset = {};                        ///< variables it must not see
  std::function<bool()> interrupted = {};                     ///< asked often; true kills it
  std::optional<double> timeout_s = {};                       ///< it is killed after this
};

struct ProgramEnd {
  int code = 0;    ///< exit code; 127 with a line in the log if it could not be started
  int signal = 0;  ///< what killed it; 0 if nothing did
  bool interrupted = false;
  bool timed_out = false;
  bool ok() const { return code == 0 && signal == 0 && !interrupted && !timed_out; }
};

/// Runs it in a session and process group of its own, which is killed as a whole when it ends, when
/// its time is up, when `interrupted` says so, and when this process dies. @throws Error 200 if the log
/// cannot be written or there are no processes left.
ProgramEnd run_program(const Program& program);

}  // namespace flopmark
