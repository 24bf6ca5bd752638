#include "launch/submodules.h"

#include <fmt/format.h>

#include <sstream>
#include <string>
#include <system_error>
#include <vector>

#include "flopmark/error.h"
#include "launch/printable_text.h"

namespace flopmark {
namespace {

namespace fs = std::filesystem;

constexpr size_t kShownBytes = 2000;

/// Lines are "submodule.NAME.path PATH".
std::vector<std::string> submodule_names(const GitProgram& git) {
  constexpr std::string_view kBegin = "submodule.", kEnd = ".path";
  std::istringstream lines(
      git.ask({"config", "--file", ".gitmodules", "--get-regexp", "^submodule\\..*\\.path$"}).text);
  std::vector<std::string> names;
  for (std::string line; std::getline(lines, line);) {
    const size_t end = line.find(std::string(kEnd) + " ");
    if (!line.starts_with(kBegin) || end == std::string::npos) continue;
    names.push_back(line.substr(kBegin.size(), end - kBegin.size()));
  }
  return names;
}

}  // namespace

bool has_submodules(const fs::path& tree) {
  std::error_code error;
  return fs::exists(tree / ".gitmodules", error);
}

void update_submodules(const GitProgram& git, const fs::path& tree, const fs::path& repository) {
  if (!has_submodules(tree)) return;
  std::vector<std::string> arguments{"-c", "submodule.active=."};
  for (const std::string& name : submodule_names(git)) {
    const fs::path copy = repository / "modules" / name;
    std::error_code error;
    if (!fs::exists(copy / "HEAD", error)) continue;
    arguments.insert(arguments.end(), {"-c", fmt::format("submodule.{}.url={}", name, copy.string()), "-c",
                                       "protocol.file.allow=always"});
  }
  arguments.insert(arguments.end(), {"submodule", "--quiet", "update", "--force", "--recursive"});
  const GitProgram::Answer answer = git.ask(arguments);
  if (!answer.ok) throw judge_error("git submodule update: " + printable_text(answer.errors, kShownBytes));
}

}  // namespace flopmark
