#include "cli/commands.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "launch/launch.h"

namespace flopmark {
namespace {

/// The front-end's own version is worth knowing without a worker too, so what is wrong with that is only
/// told.
std::string worker_text() {
  std::filesystem::path path;
  try {
    path = find_worker({});
  } catch (const Error& error) {
    return fmt::format("worker not found: {}", error.what());
  }
  try {
    const WorkerVersion worker = ask_worker_version(path);
    return fmt::format("worker: LibTorch {}{}", worker.libtorch,
                       worker.cuda.empty() ? "" : ", CUDA " + worker.cuda);
  } catch (const Error& error) {
    if (error.code() == ExitCode::interrupted) throw;
    return fmt::format("worker unusable: {}", error.what());
  }
}

}  // namespace

void setup_commands(CLI::App& app, Invocation& invocation) {
  app.description("Measures how fast a LibTorch training step is and how much of the hardware it uses.");
  app.footer(
      "Exit codes: 0 done, not slower; 1 slower; 125 cannot be judged (crash, out of memory, NaN loss,\n"
      "timeout, not settled); 130 interrupted; 200 wrong use, config or data; 201 not comparable;\n"
      "202 baseline or record missing or refused; 203 machine not fit, or too much interference;\n"
      "204 the slowdown does not show here; 205 our own fault.\n"
      "\n"
      "Example:\n"
      "  flopmark run configs/quickstart.json");
  app.set_version_flag("--version", version_text,
                       "Print the versions of flopmark and of the worker's LibTorch");
  setup_run(app, invocation);
  setup_check(app, invocation);
  setup_compare(app, invocation);
  setup_ab(app, invocation);
  setup_calibrate(app, invocation);
  setup_bisect(app, invocation);
  setup_baseline(app, invocation);
  setup_flops(app, invocation);
  setup_mfu(app, invocation);
  setup_peak(app, invocation);
  setup_data(app, invocation);
  setup_list(app, invocation);
  setup_env(app, invocation);
  setup_doctor(app, invocation);
  setup_completion(app, invocation);
}

std::string version_text() {
  return fmt::format("flopmark {}\n{}\n", FLOPMARK_VERSION, worker_text());
}

}  // namespace flopmark
