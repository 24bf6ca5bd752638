#include "compare/store_lines.h"

#include <fmt/format.h>

#include <cmath>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <system_error>

#include "flopmark/error.h"
#include "results/git.h"
#include "results/record_file.h"

namespace flopmark {
namespace {

namespace fs = std::filesystem;

void tell_git_to_merge_by_union(const Store& store, const fs::path& path, const std::string& ending) {
  if (merges_by_union(path)) return;
  const std::string union_line = "*" + ending + " merge=union\n";
  const fs::path file = store.baselines() / ".gitattributes";
  std::ifstream in(file, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  if (!text.empty() && text.back() != '\n') text += '\n';
  if (text.find(union_line) == std::string::npos) write_file_atomically(file, text + union_line);
}

}  // namespace

void read_store_lines(const fs::path& path, const std::string& what,
                      const std::function<void(const nlohmann::json&)>& take) {
  std::error_code ignored;
  if (!fs::exists(path, ignored)) return;
  std::ifstream in(path, std::ios::binary);
  size_t number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    if (line.empty()) continue;
    try {
      take(nlohmann::json::parse(line));
    } catch (const std::exception& error) {
      throw baseline_error(fmt::format("{}: line {} is no {} ({}); mend or remove that line", path.string(),
                                       number, what, error.what()));
    }
  }
  if (!in.eof()) throw baseline_error(fmt::format("{}: cannot be read", path.string()));
}

void write_store_lines(const Store& store, const fs::path& path, const std::set<std::string>& lines,
                       const std::string& ending) {
  std::string text;
  for (const std::string& line : lines) text += line;
  write_file_atomically(path, text);
  tell_git_to_merge_by_union(store, path, ending);
}

std::string six_digits(const std::optional<double>& value) {
  return value ? fmt::format("{:.6g}", *value) : "null";
}

double finite_field(const nlohmann::json& object, const char* key) {
  const double value = object.at(key).get<double>();
  if (!std::isfinite(value)) throw std::runtime_error(std::string(key) + " is no number");
  return value;
}

}  // namespace flopmark
