#include <fmt/format.h>

#include "cli/completion.h"

namespace flopmark {
namespace {

/// Looks where the program would: in --store, else in the Git tree or the folder one stands in.
constexpr const char* kBaselines = R"bash(# Bash completion of {0}. Use: source <({0} completion bash)
_{0}_baselines() {{
  local store="" file i
  for ((i = 1; i < COMP_CWORD; i++)); do
    if [[ ${{COMP_WORDS[i]}} == --store ]]; then store=${{COMP_WORDS[i + 1]}}; fi
  done
  [[ -n $store ]] || store=$(git rev-parse --show-toplevel 2>/dev/null) || store=.
  for file in "$store"/baselines/*/*.json; do
    [[ -e $file ]] || continue
    file=${{file%.json}}
    printf '%s\n' "${{file##*/}}" "${{file#"$store"/baselines/}}"
  done
}}
)bash";

/// Finds the command that the words before the cursor name, then answers by cases. Bash makes words of their
/// own of "=" and of what is on either side of it, unless COMP_WORDBREAKS was changed.
constexpr const char* kHead = R"bash(_{0}() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD - 1]}} command="" words="" i
  local key="" prefix=""
  COMPREPLY=()
  if [[ $current == "=" ]]; then
    key=$previous current="" previous=${{COMP_WORDS[COMP_CWORD - 2]}}
  elif [[ $previous == "=" ]]; then
    key=${{COMP_WORDS[COMP_CWORD - 2]}} previous=${{COMP_WORDS[COMP_CWORD - 3]}}
  elif [[ $previous == --set && $current == *=* ]]; then
    key=${{current%%=*}} prefix=$key= current=${{current#*=}}
  fi
  if [[ $key == -* ]]; then previous=$key; fi
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$command ${{COMP_WORDS[i]}}" in
      {1}) command+=" ${{COMP_WORDS[i]}}" ;;
    esac
  done
)bash";

constexpr const char* kTail = R"bash(  if [[ $current == -* || -z $words ]]; then
    COMPREPLY=($(compgen -W "$options" -- "$current"))
  elif [[ $words == FILES ]]; then
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -f -- "$current")
  elif [[ $words == BASELINES ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$(_{0}_baselines)" -- "$current"; compgen -f -- "$current")
  else
    COMPREPLY=($(compgen -W "$words" -- "$current"))
  fi
}}
complete -F _{0} {0}
)bash";

constexpr const char* kFiles =
    "compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -f -- \"$current\"); return";

constexpr const char* kKeyValue =
    "if [[ -n $key ]]; then COMPREPLY=($(compgen -P \"$prefix\" -W \"$values\" -- \"$current\")); else "
    "compopt -o nospace 2>/dev/null; COMPREPLY=($(compgen -W \"$keys\" -- \"$current\")); fi; return";

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
  if (value.config_keys) return kKeyValue;
  return value.files ? kFiles : "return";
}

/// The keys that --set takes, and the values of the one that stands before the cursor.
std::string key_words() {
  std::string keys;
  std::string cases;
  for (const CompletionKey& key : completion_keys()) {
    keys += (keys.empty() ? "" : " ") + key.path + "=";
    if (!key.values.empty())
      cases += fmt::format("    {}) values=\"{}\" ;;\n", key.path, joined(key.values, " "));
  }
  return fmt::format("  local keys=\"{}\" values=\"\"\n  case \"$key\" in\n{}  esac\n", keys, cases);
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
    if (argument.baselines) return "BASELINES";
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
  return fmt::format(kBaselines, program) + fmt::format(kHead, program, joined(paths, " | ")) + key_words() +
         option_values(commands) + command_words(commands) + fmt::format(kTail, program);
}

}  // namespace flopmark
