#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/terminal.h"
#include "hardware/environment.h"
#include "launch/launch.h"
#include "measure/samples.h"
#include "report/environment_text.h"

namespace flopmark {
namespace {

struct EnvOptions {
  std::string format = "text", device = "auto";
};

/// The machine is worth knowing without a worker too; then what is wrong with that is only told. A device
/// that was asked for by name is another matter.
Environment full_environment(const EnvOptions& options) {
  Environment host = host_environment();
  try {
    return merge_environment(host, ask_worker_environment(find_worker({}), options.device));
  } catch (const Error& error) {
    if (error.code() == ExitCode::interrupted || options.device != "auto") throw;
    write_note(std::string("without what the worker knows: ") + error.what());
    return host;
  }
}

void print_environment(const EnvOptions& options) {
  const Environment environment = full_environment(options);
  if (options.format == "text") return write_output(environment_text(environment));
  // A variable may hold any bytes; what is not UTF-8 is replaced.
  write_output(to_json(environment).dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

}  // namespace

void setup_env(CLI::App& app, Invocation& invocation) {
  const auto options = std::make_shared<EnvOptions>();
  CLI::App* command = app.add_subcommand("env", "Show what a record would say of this machine");
  command->add_option("--format", options->format, "Form of the fingerprint")
      ->check(CLI::IsMember({"text", "json"}));
  command->add_option("--device", options->device, "Of this device: auto, cpu, cuda, cuda:1, ...");
  command->footer(
      "What is not known, or not allowed to be read, is shown as not available (null in JSON).\n"
      "\n"
      "Example:\n  flopmark env --format json");
  command->callback([options, &invocation] {
    invocation.action = [options] {
      print_environment(*options);
      return ExitCode::ok;
    };
  });
}

}  // namespace flopmark
