#include "results/baseline_store.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "flopmark/error.h"
#include "hardware/environment.h"
#include "results/baseline_checks.h"
#include "results/git.h"
#include "results/record_file.h"

namespace flopmark {
namespace {

namespace fs = std::filesystem;

constexpr size_t kShortHash = 12;
constexpr std::string_view kAnchorEnd = ".anchor";

/// A record may come from a file that anybody wrote: its name must not lead out of the store.
const std::string& checked_name(const RunRecord& record) {
  if (is_record_name(record.name)) return record.name;
  throw baseline_error(
      fmt::format("record name \"{}\": must be 1 to 64 of A-Z a-z 0-9 . _ - and start with a letter or digit",
                  record.name));
}

/// Only those characters of `text` that are safe in a file name and that `wanted` lists.
std::string only(const std::string& text, std::string_view wanted) {
  std::string kept;
  for (const char character : text) {
    if (wanted.find(character) != std::string_view::npos) kept += character;
  }
  return kept;
}

/// Empty where there is no such file.
std::string text_of(const fs::path& file) {
  std::error_code ignored;
  if (!fs::is_regular_file(file, ignored)) return "";
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

void ensure_union_merge(const Store& store) {
  if (merges_by_union(store.baselines() / "README.md")) return;
  const fs::path file = store.baselines() / ".gitattributes";
  std::string text = text_of(file);
  if (!text.empty() && text.back() != '\n') text += '\n';
  constexpr std::string_view kLine = "README.md merge=union\n";
  if (text.find(kLine) == std::string::npos) write_file_atomically(file, text.append(kLine));
}

/// A config of this name would lie where the anchor of another lies.
const std::string& checked_baseline_name(const RunRecord& record) {
  const std::string& name = checked_name(record);
  if (!name.ends_with(kAnchorEnd)) return name;
  throw baseline_error(
      fmt::format("record name \"{}\": {} is the end of an anchor's file; give the config another name", name,
                  kAnchorEnd));
}

/// The baseline about to be replaced by `text` becomes the anchor, where there is none yet: it is the first
/// of its kind that was committed.
std::optional<fs::path> keep_as_anchor(const fs::path& present, const fs::path& anchor,
                                       const std::string& text) {
  std::error_code ignored;
  if (!fs::exists(present, ignored) || fs::exists(anchor, ignored)) return std::nullopt;
  const std::string first = text_of(present);
  if (first == text || has_uncommitted_changes(present)) return std::nullopt;
  try {
    read_record(present);
  } catch (const Error&) {  // a damaged file is no reference
    return std::nullopt;
  }
  write_file_atomically(anchor, first);
  return anchor;
}

void check_anchored(const Store& store, const RunRecord& record) {
  std::error_code ignored;
  if (fs::exists(baseline_path(store, record), ignored)) return;
  throw baseline_error(
      fmt::format("anchor of \"{}\" not moved: there is no baseline yet, and the first one saved is the "
                  "anchor: leave the role out",
                  record.name));
}

/// A copy in another folder, or under another name, would stand for a run that never was.
void check_place(const Store& store, const fs::path& file, const RunRecord& record) {
  const fs::path right = baseline_path(store, record, role_of(file));
  if (file == right) return;
  throw baseline_error(
      fmt::format("{}: holds the baseline of {}, so it belongs in {}: move it there, or remove it",
                  file.string(), baseline_key(right), right.string()));
}

bool is_visible(const fs::path& path) {
  return path.filename().string().rfind('.', 0) != 0;
}

/// Visible entries of `folder`, sorted; none if it does not exist.
std::vector<fs::path> entries_of(const fs::path& folder) {
  std::vector<fs::path> entries;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    if (is_visible(at->path())) entries.push_back(at->path());
  }
  std::sort(entries.begin(), entries.end());
  return entries;
}

}  // namespace

Store find_store(const fs::path& given, const fs::path& config_file) {
  if (!given.empty()) return {fs::absolute(given).lexically_normal()};
  const fs::path here = fs::current_path();
  const fs::path folder = config_file.empty() ? here : fs::absolute(config_file).parent_path();
  return {tree_top(folder).value_or(here)};
}

fs::path record_path(const Store& store, const RunRecord& record) {
  const std::string commit =
      only(record.subject.commit.value_or(""), "0123456789abcdef").substr(0, kShortHash);
  const std::string file = fmt::format("{}-{}-{}.json", only(record.time, "0123456789TZ."), getpid(),
                                       commit.empty() ? "nogit" : commit);
  return store.results() / checked_name(record) / file;
}

fs::path baseline_path(const Store& store, const RunRecord& record, BaselineRole role) {
  std::string file = checked_baseline_name(record);
  if (role == BaselineRole::anchor) file += kAnchorEnd;
  return store.baselines() / hardware_slug(record.environment) / (file + ".json");
}

std::string baseline_key(const fs::path& file) {
  return (file.parent_path().filename() / file.stem()).generic_string();
}

BaselineRole role_of(const fs::path& file) {
  return file.stem().string().ends_with(kAnchorEnd) ? BaselineRole::anchor : BaselineRole::rolling;
}

SavedBaseline save_baseline(const Store& store, const RunRecord& record, const SaveOptions& options) {
  SavedBaseline saved;
  saved.path = baseline_path(store, record, options.role);
  check_record_for_saving(record, options);
  check_present_baseline(store, record, options);
  RunRecord baseline = record;
  baseline.anchor_reason.reset();
  if (options.force) baseline.forced_reason = options.reason;
  for (Repeat& repeat : baseline.repeats) repeat.step_s.clear();
  if (options.role == BaselineRole::anchor) {
    check_anchored(store, record);
    baseline.anchor_reason = options.reason;
  }
  const std::string text = format_record(to_json(baseline), true);
  if (options.role == BaselineRole::rolling && options.keeps_replaced) {
    saved.anchor = keep_as_anchor(saved.path, baseline_path(store, record, BaselineRole::anchor), text);
  }
  write_file_atomically(saved.path, text);
  ensure_union_merge(store);
  saved.problems = write_baselines_readme(store);
  return saved;
}

std::vector<StoredBaseline> list_baselines(const Store& store, std::vector<std::string>& problems) {
  std::vector<StoredBaseline> baselines;
  for (const fs::path& hardware : entries_of(store.baselines())) {
    for (const fs::path& file : entries_of(hardware)) {
      if (file.extension() != ".json") continue;
      try {
        RunRecord record = read_record(file);
        check_place(store, file, record);
        baselines.push_back({file.lexically_relative(store.root), std::move(record)});
      } catch (const Error& error) {
        problems.push_back(error.what());
      }
    }
  }
  return baselines;
}

std::vector<std::string> write_baselines_readme(const Store& store) {
  std::vector<std::string> problems;
  const std::string text =
      "# Baselines\n\nMade by `flopmark baseline`; do not edit. One file per hardware and config, and its "
      "anchor "
      "where it has moved on; history is Git's.\n\n" +
      baselines_table(list_baselines(store, problems));
  const fs::path file = store.baselines() / "README.md";
  if (text_of(file) != text) write_file_atomically(file, text);
  return problems;
}

}  // namespace flopmark
