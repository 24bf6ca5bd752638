#include "report/confirm_line.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <vector>

#include "report/shell_quoted.h"

namespace flopmark {
namespace {

constexpr size_t kRefDigits = 10;
constexpr std::array kWithValue{
    std::string_view("--set"),           std::string_view("--output"),      std::string_view("--reason"),
    std::string_view("--store"),         std::string_view("--worker"),      std::string_view("--peaks"),
    std::string_view("--format"),        std::string_view("--baseline"),    std::string_view("--undecided"),
    std::string_view("--allow"),         std::string_view("--no-baseline"), std::string_view("--stale-days"),
    std::string_view("--stale-commits"), std::string_view("--build"),       std::string_view("--artifact"),
    std::string_view("--budget")};

/// Configs and --set of a command line of `flopmark run` or `check`.
struct MeasuredCommand {
  std::vector<std::string> configs, sets;
};

MeasuredCommand measured_command(const std::vector<std::string>& words) {
  MeasuredCommand command;
  for (size_t i = 2; i < words.size(); ++i) {
    const std::string& word = words[i];
    const bool has_value = std::find(kWithValue.begin(), kWithValue.end(), word) != kWithValue.end();
    if (has_value && i + 1 < words.size()) {
      if (word == "--set") command.sets.push_back(words[i + 1]);
      ++i;
    } else if (word.starts_with("--set=")) {
      command.sets.push_back(word.substr(6));
    } else if (!word.starts_with("-")) {
      command.configs.push_back(word);
    }
  }
  return command;
}

/// The one that made this record, of several.
std::string config_of(const MeasuredCommand& command, const RunRecord& record) {
  if (command.configs.size() == 1) return shell_quoted(command.configs.front());
  for (const std::string& config : command.configs) {
    if (std::filesystem::path(config).stem() == record.name) return shell_quoted(config);
  }
  return "CONFIG";
}

/// Without what flopmark ab refuses: a second pass.
std::string one_pass_text(const nlohmann::json& config) {
  const nlohmann::json::json_pointer loader("/measure/loader");
  const bool has_two = config.contains(loader) && config.at(loader) != "normal";
  return has_two ? " --set measure.loader=normal" : "";
}

bool is_a_commit(const Subject& subject) {
  return subject.commit && !subject.dirty.value_or(true);
}

std::string sides_text(const Subject& a, const Subject& b) {
  if (!is_a_commit(a) || !b.commit || (is_a_commit(b) && a.commit == b.commit)) {
    return " --a.worker OLD --b.worker NEW";
  }
  std::string text = " --a.ref " + a.commit->substr(0, kRefDigits);
  if (is_a_commit(b)) text += " --b.ref " + b.commit->substr(0, kRefDigits);
  return text + " --build CMD";
}

}  // namespace

std::string confirm_line(const RunRecord& a, const RunRecord& b) {
  const MeasuredCommand command = measured_command(b.command_line);
  std::string line = "flopmark ab " + config_of(command, b);
  for (const std::string& set : command.sets) line += " --set " + shell_quoted(set);
  return line + one_pass_text(b.config) + sides_text(a.subject, b.subject);
}

}  // namespace flopmark
