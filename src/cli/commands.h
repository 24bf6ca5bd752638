#pragma once

#include <functional>
#include <string>
#include <vector>

#include "flopmark/error.h"

namespace CLI {
class App;
}

namespace flopmark {

/// What the parsed command line asks for. The command that was named sets `action`; main runs it after
/// parsing, so that a mistake in the command line is told apart from one in the work.
struct Invocation {
  std::vector<std::string> command_line;
  std::function<ExitCode()> action;
};

/// Adds every command to `app`, in the order of work. `app` and `invocation` must outlive the action.
void setup_commands(CLI::App& app, Invocation& invocation);

/// One command each, in its own file: adds the command with its options, help and example.
void setup_run(CLI::App& app, Invocation& invocation);
void setup_check(CLI::App& app, Invocation& invocation);
void setup_compare(CLI::App& app, Invocation& invocation);
void setup_ab(CLI::App& app, Invocation& invocation);
void setup_calibrate(CLI::App& app, Invocation& invocation);
void setup_bisect(CLI::App& app, Invocation& invocation);
void setup_baseline(CLI::App& app, Invocation& invocation);
void setup_flops(CLI::App& app, Invocation& invocation);
void setup_mfu(CLI::App& app, Invocation& invocation);
void setup_peak(CLI::App& app, Invocation& invocation);
void setup_data(CLI::App& app, Invocation& invocation);
void setup_list(CLI::App& app, Invocation& invocation);
void setup_env(CLI::App& app, Invocation& invocation);
void setup_doctor(CLI::App& app, Invocation& invocation);
void setup_completion(CLI::App& app, Invocation& invocation);

/// `flopmark --version`: this program's version, and LibTorch's as the worker tells it (or why it cannot).
std::string version_text();

}  // namespace flopmark
