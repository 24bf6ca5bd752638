#include <fmt/format.h>

#include "cli/completion.h"

namespace flopmark {
namespace {

/// Text inside single quotes of an _arguments or _describe entry: these characters have a meaning there.
std::string quoted(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    if (c == '\'') {
      safe += "'\\''";
    } else {
      if (c == ':' || c == '[' || c == ']' || c == '\\') safe += '\\';
      safe += c;
    }
  }
  return safe;
}

std::string function_name(const std::string& program, const std::string& path) {
  std::string name = "_" + program + path;
  for (char& c : name) {
    if (c == ' ' || c == '-') c = '_';
  }
  return name;
}

std::string zsh_value_action(const CompletionValue& value) {
  if (value.choices.empty()) return value.files ? "_files" : " ";
  std::string choices;
  for (const std::string& choice : value.choices) choices += (choices.empty() ? "" : " ") + quoted(choice);
  return "(" + choices + ")";
}

std::string arguments_of(const CompletionCommand& command) {
  std::string entries;
  for (const CompletionOption& option : command.options) {
    for (const std::string& name : option.names) {
      const std::string value = option.takes_value ? ":value:" + zsh_value_action(option.value) : "";
      entries += fmt::format(" \\\n    '*{}[{}]{}'", name, quoted(option.help), value);
    }
  }
  for (const CompletionValue& argument : command.arguments) {
    entries += fmt::format(" \\\n    '*:argument:{}'", zsh_value_action(argument));
  }
  return entries;
}

/// A command without subcommands completes options and arguments.
std::string leaf_function(const std::string& name, const CompletionCommand& command) {
  return fmt::format("{}() {{\n  _arguments -s{}\n}}\n", name, arguments_of(command));
}

/// A command with subcommands completes them, and hands over once one is named.
std::string branch_function(const std::string& program, const CompletionCommand& command) {
  std::string described;
  std::string cases;
  for (size_t i = 0; i < command.subcommands.size(); ++i) {
    const std::string& name = command.subcommands[i];
    described += fmt::format("\n    '{}:{}'", quoted(name), quoted(command.subcommand_helps[i]));
    cases += fmt::format("    {}) {} ;;\n", name, function_name(program, command.path + " " + name));
  }
  return fmt::format(
      "{0}() {{\n"
      "  local context state state_descr line\n"
      "  typeset -A opt_args\n"
      "  local -a commands\n"
      "  commands=({1}\n  )\n"
      "  _arguments -C{2} \\\n    '1:command:->command' \\\n    '*::argument:->argument'\n"
      "  case $state in\n"
      "    command) _describe command commands; return ;;\n"
      "  esac\n"
      "  case $line[1] in\n{3}  esac\n"
      "}}\n",
      function_name(program, command.path), described, arguments_of(command), cases);
}

}  // namespace

std::string zsh_completion(const std::string& program, const std::vector<CompletionCommand>& commands) {
  std::string script =
      fmt::format("#compdef {0}\n# Zsh completion of {0}. Use: source <({0} completion zsh)\n", program);
  for (const CompletionCommand& command : commands) {
    script += command.subcommands.empty() ? leaf_function(function_name(program, command.path), command)
                                          : branch_function(program, command);
  }
  // Called as an autoloaded file it completes at once; sourced, it registers itself, with compinit if that
  // has not run yet.
  return script + fmt::format(
                      "if [[ $funcstack[1] == _{0} ]]; then\n"
                      "  _{0} \"$@\"\n"
                      "else\n"
                      "  (( $+functions[compdef] )) || {{ autoload -Uz compinit && compinit -i }}\n"
                      "  compdef _{0} {0}\n"
                      "fi\n",
                      program);
}

}  // namespace flopmark
