#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace flopmark {

/// What may follow an option or stand as an argument.
struct CompletionValue {
  std::vector<std::string> choices;  ///< empty: see files
  bool files = false;                ///< names of files and folders
  bool config_keys = false;          ///< key=value of a config
  bool baselines = false;            ///< name and hardware/name of the baselines on file, or files
};

/// A key of a config, and its values where they are few (else empty).
struct CompletionKey {
  std::string path;
  std::vector<std::string> values;
};

struct CompletionOption {
  std::vector<std::string> names;  ///< "--set"
  std::string help;
  bool takes_value = false;
  CompletionValue value;
};

/// One command as completion sees it. `path` is "" for the program, " run", " baseline save" below it.
struct CompletionCommand {
  std::string path;
  std::vector<std::string> subcommands, subcommand_helps;
  std::vector<CompletionOption> options;
  std::vector<CompletionValue> arguments;
};

/// Every command of `app`, outer ones first: read off the parser itself, so that it cannot fall behind.
std::vector<CompletionCommand> completion_commands(const CLI::App& app);

/// Every key of a config, from the table that parses it.
std::vector<CompletionKey> completion_keys();

/// A completion script for `program`, complete in itself.
std::string bash_completion(const std::string& program, const std::vector<CompletionCommand>& commands);
std::string zsh_completion(const std::string& program, const std::vector<CompletionCommand>& commands);

}  // namespace flopmark
