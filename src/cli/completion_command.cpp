#include <CLI/CLI.hpp>
#include <memory>

#include "cli/commands.h"
#include "cli/completion.h"
#include "cli/terminal.h"

namespace flopmark {
namespace {

struct CompletionOptions {
  std::string shell;
};

ExitCode run_completion(const CompletionOptions& options, const CLI::App& app) {
  const std::vector<CompletionCommand> commands = completion_commands(app);
  write_output(options.shell == "bash" ? bash_completion(app.get_name(), commands)
                                       : zsh_completion(app.get_name(), commands));
  return ExitCode::ok;
}

}  // namespace

void setup_completion(CLI::App& app, Invocation& invocation) {
  const auto options = std::make_shared<CompletionOptions>();
  CLI::App* command = app.add_subcommand("completion", "Print a completion script for a shell");
  command->add_option("SHELL", options->shell, "The shell")
      ->check(CLI::IsMember({"bash", "zsh"}))
      ->required();
  command->footer("Example:\n  source <(flopmark completion bash)");
  command->callback([options, &app, &invocation] {
    invocation.action = [options, &app] { return run_completion(*options, app); };
  });
}

}  // namespace flopmark
