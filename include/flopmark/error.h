#pragma once

#include <stdexcept>
#include <string>

namespace flopmark {

/// Process exit codes, the same for every command, chosen so that `git bisect run` reads them right:
/// 0 good, 1 bad, 125 skip, everything else here stops the bisection.
enum class ExitCode : int {
  ok = 0,              ///< done; not slower
  slower = 1,          ///< judged slower
  cannot_judge = 125,  ///< crash, OOM, NaN loss, timeout, undecided
  interrupted = 130,   ///< Ctrl-C, SIGTERM, SIGHUP, SIGQUIT
  usage = 200,         ///< wrong use, config or data files
  not_comparable = 201,
  baseline = 202,  ///< baseline or record missing, stale or unreadable; save refused; result not written
  interference = 203,
  not_reproduced = 204,
  internal = 205,  ///< our own fault
};

/// A mistake the user can mend. The text is one message that names what, where, what was found and
/// what to do; `code` is what the process exits with. Caught once, in main.
class Error : public std::runtime_error {
 public:
  Error(ExitCode code, const std::string& text) : std::runtime_error(text), code_(code) {}
  ExitCode code() const noexcept { return code_; }

 private:
  ExitCode code_;
};

/// Wrong use, config or data file (exit code 200).
inline Error usage_error(const std::string& text) {
  return {ExitCode::usage, text};
}
/// Baseline or record missing or unreadable, or a save refused (exit code 202).
inline Error baseline_error(const std::string& text) {
  return {ExitCode::baseline, text};
}
/// This run cannot be judged (exit code 125).
inline Error judge_error(const std::string& text) {
  return {ExitCode::cannot_judge, text};
}

}  // namespace flopmark
