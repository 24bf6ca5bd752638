#include "results/baseline_store.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "flopmark/error.h"
#include "hardware/environment.h"
#include "results/git.h"
#include "results/record_file.h"

namespace flopmark {
namespace {

namespace fs = std::filesystem;

constexpr size_t kShortHash = 12;

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

[[noreturn]] void refuse_saving(const RunRecord& record, const std::string& why) {
  throw baseline_error(fmt::format("baseline \"{}\" not saved: {}", record.name, why));
}

std::string status_refusal(const RunRecord& record) {
  std::string why =
      fmt::format("its status is {}, and only ok can be a baseline, forced or not", record.status);
  if (record.failure)
    why += fmt::format(" ({} in {}: {})", record.failure->kind, record.failure->phase, record.failure->text);
  for (const auto& warning : record.warnings) {
    if (warning.code == "not_believable") why += fmt::format(" ({})", warning.text);
  }
  return why;
}

void check_tree(const RunRecord& record) {
  constexpr const char* kForce = "or force it with a reason";
  const Subject& subject = record.subject;
  const std::string reason = subject.reason.value_or("no reason given");
  if (!subject.commit) {
    refuse_saving(record,
                  fmt::format("there is no commit to name it by ({}); commit first, {}", reason, kForce));
  }
  if (!subject.dirty) {
    refuse_saving(record, fmt::format("Git cannot tell whether the tree has changes ({}); mend it, {}",
                                      reason, kForce));
  }
  if (*subject.dirty) {
    refuse_saving(
        record, fmt::format("the tree it was measured in has changes that are not committed; commit or stash "
                            "them and measure again, {}",
                            kForce));
  }
}

/// Times taken beside others' work on the device are no reference for anybody.
void check_device(const RunRecord& record) {
  for (const auto& warning : record.warnings) {
    if (warning.code != "device_shared") continue;
    refuse_saving(record, fmt::format("the device was busy ({}); measure again, or force it with a reason",
                                      warning.text));
  }
}

void check_present_file(const RunRecord& record, const fs::path& path) {
  if (!has_uncommitted_changes(path)) return;
  refuse_saving(
      record, fmt::format("{} is in no commit as it is now and would be lost; commit or remove it first, or "
                          "force it with a reason",
                          path.string()));
}

std::string text_of(const fs::path& file) {
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

/// A copy in another folder, or under another name, would stand for a run that never was.
void check_place(const Store& store, const fs::path& file, const RunRecord& record) {
  const fs::path right = baseline_path(store, record);
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

fs::path baseline_path(const Store& store, const RunRecord& record) {
  return store.baselines() / hardware_slug(record.environment) / (checked_name(record) + ".json");
}

std::string baseline_key(const fs::path& file) {
  return (file.parent_path().filename() / file.stem()).generic_string();
}

void check_subject_for_saving(const RunRecord& record, const SaveOptions& options) {
  if (options.force && options.reason.find_first_not_of(" \t\r\n") == std::string::npos) {
    throw usage_error("a forced save needs a reason, which is stored in the baseline");
  }
  if (!options.force) check_tree(record);
}

void check_present_baseline(const Store& store, const RunRecord& record, const SaveOptions& options) {
  if (!options.force) check_present_file(record, baseline_path(store, record));
}

SavedBaseline save_baseline(const Store& store, const RunRecord& record, const SaveOptions& options) {
  const fs::path path = baseline_path(store, record);
  if (record.status != "ok") refuse_saving(record, status_refusal(record));
  check_subject_for_saving(record, options);
  if (!options.force) check_device(record);
  check_present_baseline(store, record, options);
  RunRecord baseline = record;
  if (options.force) baseline.forced_reason = options.reason;
  for (Repeat& repeat : baseline.repeats) repeat.step_s.clear();
  write_file_atomically(path, format_record(to_json(baseline), true));
  ensure_union_merge(store);
  return {path, write_baselines_readme(store)};
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
      "# Baselines\n\nMade by `flopmark baseline`; do not edit. One file per hardware and config; history is "
      "Git's.\n\n" +
      baselines_table(list_baselines(store, problems));
  const fs::path file = store.baselines() / "README.md";
  if (text_of(file) != text) write_file_atomically(file, text);
  return problems;
}

}  // namespace flopmark
