#include "cli/completion.h"

#include <CLI/CLI.hpp>

#include "config/key_table.h"

namespace flopmark {
namespace {

/// "TEXT:{text,schema}" has the choices of a CLI::IsMember in braces.
std::vector<std::string> choices_of(const std::string& type_name) {
  const size_t open = type_name.find('{');
  const size_t close = type_name.find('}', open == std::string::npos ? 0 : open);
  if (open == std::string::npos || close == std::string::npos) return {};
  return CLI::detail::split(type_name.substr(open + 1, close - open - 1), ',');
}

CompletionValue value_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  CompletionValue value;
  value.choices = choices_of(type);
  value.files = type.find("FILE") != std::string::npos || type.find("DIR") != std::string::npos;
  value.config_keys = type == "KEY=VALUE";
  value.baselines = type.find("NAME") != std::string::npos;
  return value;
}

std::vector<std::string> names_of(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  return names;
}

void add_commands(const CLI::App& app, const std::string& path, std::vector<CompletionCommand>& commands) {
  CompletionCommand command;
  command.path = path;
  for (const CLI::Option* option : app.get_options()) {
    if (option->nonpositional()) {
      const bool takes_value = option->get_items_expected_max() > 0;
      command.options.push_back(
          {names_of(*option), option->get_description(), takes_value, value_of(*option)});
    } else {
      command.arguments.push_back(value_of(*option));
    }
  }
  const auto all = [](const CLI::App*) { return true; };
  const std::vector<const CLI::App*> subcommands = app.get_subcommands(all);
  for (const CLI::App* subcommand : subcommands) {
    command.subcommands.push_back(subcommand->get_name());
    command.subcommand_helps.push_back(subcommand->get_description());
  }
  commands.push_back(std::move(command));
  for (const CLI::App* subcommand : subcommands) {
    add_commands(*subcommand, path + " " + subcommand->get_name(), commands);
  }
}

std::vector<std::string> few_values(const KeyRow& row) {
  if (std::holds_alternative<bool& (*)(RunConfig&)>(row.field)) return {"true", "false"};
  return row.values;
}

}  // namespace

std::vector<CompletionKey> completion_keys() {
  std::vector<CompletionKey> keys;
  for (const KeyRow& row : config_keys()) keys.push_back({row.path, few_values(row)});
  return keys;
}

std::vector<CompletionCommand> completion_commands(const CLI::App& app) {
  std::vector<CompletionCommand> commands;
  add_commands(app, "", commands);
  return commands;
}

}  // namespace flopmark
