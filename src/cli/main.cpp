#include <CLI/CLI.hpp>
#include <exception>
#include <string>

#include "cli/commands.h"
#include "cli/terminal.h"
#include "flopmark/error.h"

namespace flopmark {
namespace {

/// The parser's message in our words where its own would mislead.
std::string parse_error_text(const CLI::App& app, const CLI::ParseError& error) {
  const std::vector<std::string> left = app.remaining();
  if (app.get_subcommands().empty() && !left.empty() && !left.front().starts_with('-')) {
    std::string known;
    for (const CLI::App* command : app.get_subcommands(nullptr)) {
      known += (known.empty() ? "" : ", ") + command->get_name();
    }
    return "unknown command \"" + left.front() + "\"; the commands are " + known;
  }
  return error.what();
}

/// The named command as typed, such as "flopmark baseline save".
std::string command_name(const CLI::App& app) {
  std::string name = app.get_name();
  for (const CLI::App* at = &app; !at->get_subcommands().empty();) {
    at = at->get_subcommands().front();
    name += " " + at->get_name();
  }
  return name;
}

ExitCode run(int argc, char** argv) {
  Invocation invocation;
  invocation.command_line.assign(argv, argv + argc);
  CLI::App app("", "flopmark");
  setup_commands(app, invocation);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    write_output(app.help());
    return ExitCode::ok;
  } catch (const CLI::CallForVersion& version) {
    if (argc > 2) throw usage_error("--version stands alone; leave the rest out");
    write_output(version.what());
    return ExitCode::ok;
  } catch (const CLI::ParseError& error) {
    throw usage_error(parse_error_text(app, error) + "; see " + command_name(app) + " --help");
  }
  if (!invocation.action) throw usage_error("no command given; see " + command_name(app) + " --help");
  return invocation.action();
}

}  // namespace
}  // namespace flopmark

int main(int argc, char** argv) {
  try {
    flopmark::prepare_standard_streams();
    return static_cast<int>(flopmark::run(argc, argv));
  } catch (const flopmark::Error& error) {
    flopmark::write_error(error.what());
    return static_cast<int>(error.code());
  } catch (const std::exception& error) {
    flopmark::write_error(std::string("internal: ") + error.what() +
                          "; this is a fault of flopmark: please report it with the command line");
    return static_cast<int>(flopmark::ExitCode::internal);
  }
}
