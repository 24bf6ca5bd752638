#include "results/record_lookup.h"

#include <fmt/format.h>

#include "flopmark/error.h"
#include "results/git.h"
#include "results/record_file.h"

namespace flopmark {
namespace {

namespace fs = std::filesystem;

bool is_stem_of(const std::string& name, const fs::path& file) {
  return file.extension() == ".json" && file.stem() == name;
}

std::string only_one(const std::vector<std::string>& found, const std::string& name,
                     const std::string& place) {
  if (found.size() == 1) return found.front();
  std::string list;
  for (const std::string& file : found) list += (list.empty() ? "" : ", ") + file;
  throw baseline_error(
      found.empty()
          ? fmt::format("{}: no such file, and no baseline of that name in {}", name, place)
          : fmt::format("{}: several baselines in {} have that name; give one of {}", name, place, list));
}

/// `file`, which need not exist, from the top of its Git tree.
std::string path_in_tree(const fs::path& file) {
  std::error_code error;
  const fs::path folder = fs::weakly_canonical(fs::absolute(file).parent_path(), error);
  const fs::path top = fs::weakly_canonical(tree_top(folder).value_or(folder), error);
  return (folder / file.filename()).lexically_relative(top).generic_string();
}

FoundRecord committed_record(const std::string& reference, const std::string& what, const Store& store) {
  const bool is_path = what.find('/') != std::string::npos || what.ends_with(".json");
  std::string path = what;
  if (!is_path) {
    std::vector<std::string> found;
    for (const std::string& file : files_at(store.root, reference, path_in_tree(store.baselines()))) {
      if (is_stem_of(what, file)) found.push_back(file);
    }
    path = only_one(found, what, reference);
  }
  const std::string source = reference + ":" + path;
  return {parse_record(file_at(store.root, reference, path), source), source};
}

}  // namespace

FoundRecord find_record(const std::string& operand, const Store& store) {
  std::error_code ignored;
  if (fs::exists(operand, ignored) && !fs::is_directory(operand, ignored))
    return {read_record(operand), operand};
  const size_t colon = operand.find(':');
  if (colon != std::string::npos && colon > 0 && colon + 1 < operand.size()) {
    return committed_record(operand.substr(0, colon), operand.substr(colon + 1), store);
  }
  if (!is_record_name(operand) || operand.ends_with(".json")) return {read_record(operand), operand};
  std::vector<std::string> problems, found;
  for (const StoredBaseline& baseline : list_baselines(store, problems)) {
    if (is_stem_of(operand, baseline.path)) found.push_back((store.root / baseline.path).string());
  }
  const std::string file = only_one(found, operand, store.baselines().string());
  return {read_record(file), file};
}

FoundRecord find_committed(const std::string& reference, const std::string& file, const Store& store) {
  return committed_record(reference, path_in_tree(file), store);
}

}  // namespace flopmark
