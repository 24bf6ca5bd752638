#include <fmt/format.h>

#include "cli/completion.h"

namespace flopmark {
namespace {

/// Finds the command that the words before the cursor name, then answers by cases.
constexpr const char* kHead = R"(# Bash completion of {0}. Use: source <({0} completion bash)
_{0}() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD - 1]}} command="" words="" i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$command ${{COMP_WORDS[i]}}" in
      {1}) command+=" ${{COMP_WORDS[i]}}" ;;
    esac
  done
)";

constexpr const char* kTail = R"(  if [[ $current == -* || -z $words ]]; then
    COMPREPLY=($(compgen -W "$options" -- "$current"))
  elif [[ $words == FILES ]]; then
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -f -- "$current")
  else
    COMPREPLY=($(compgen -W "$words" -- "$current"))
  fi
}}
complete -F _{0} {0}
)";

constexpr const char* kFiles =
    "compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -f -- \"$current\"); return";

std::string joined(const std::vector<std::string>& words, const char* separator) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : separator) + word;
  return text;
}

/// What to do after an option that takes a value.
std::string value_action(const CompletionValue& value) {
  if (!value.choices.empty()) {
    return fmt::format("COMPREPLY=($(compgen -W \"{}\" -- \"$current\")); return",
                       joined(value.choices, " "));
  }
  return value.files ? kFiles : "return";
}

std::string option_values(const std::vector<CompletionCommand>& commands) {
  std::string cases;
  for (const CompletionCommand& command : commands) {
    for (const CompletionOption& option : command.options) {
      if (!option.takes_value) continue;
      std::vector<std::string> patterns;
      for (const std::string& name : option.names)
        patterns.push_back(fmt::format("\"{} {}\"", command.path, name));
      cases += fmt::format("    {}) {} ;;\n", joined(patterns, " | "), value_action(option.value));
    }
  }
  return "  case \"$command $previous\" in\n" + cases + "  esac\n";
}

/// Subcommands, else what the arguments may be.
std::string words_of(const CompletionCommand& command) {
  if (!command.subcommands.empty()) return joined(command.subcommands, " ");
  for (const CompletionValue& argument : command.arguments) {
    if (!argument.choices.empty()) return joined(argument.choices, " ");
    if (argument.files) return "FILES";
  }
  return "";
}

std::string command_words(const std::vector<CompletionCommand>& commands) {
  std::string cases;
  for (const CompletionCommand& command : commands) {
    std::vector<std::string> names;
    for (const CompletionOption& option : command.options) {
      names.insert(names.end(), option.names.begin(), option.names.end());
    }
    cases += fmt::format("    \"{}\") options=\"{}\" words=\"{}\" ;;\n", command.path, joined(names, " "),
                         words_of(command));
  }
  return "  local options=\"\"\n  case \"$command\" in\n" + cases + "  esac\n";
}

}  // namespace

std::string bash_completion(const std::string& program, const std::vector<CompletionCommand>& commands) {
  std::vector<std::string> paths;
  for (const CompletionCommand& command : commands) {
    if (!command.path.empty()) paths.push_back("\"" + command.path + "\"");
  }
  return fmt::format(kHead, program, joined(paths, " | ")) + option_values(commands) +
         command_words(commands) + fmt::format(kTail, program);
}

}  // namespace flopmark
