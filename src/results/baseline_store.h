#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "flopmark/record.h"

namespace flopmark {

/// Where records and baselines lie.
struct Store {
  std::filesystem::path root;
  std::filesystem::path results() const { return root / "results"; }
  std::filesystem::path baselines() const { return root / "baselines"; }
};
/// `given` (--store) if not empty, else the top of the Git tree that holds `config_file` (the current folder
/// if that is empty), else the current folder. Absolute.
Store find_store(const std::filesystem::path& given, const std::filesystem::path& config_file);

/// results/<name>/<time>-<pid>-<commit or nogit>.json. @throws Error 202 if the name is no file name.
std::filesystem::path record_path(const Store& store, const RunRecord& record);
/// baselines/<hardware>/<name>.json. @throws Error 202 if the name is no file name.
std::filesystem::path baseline_path(const Store& store, const RunRecord& record);

/// "<hardware>/<name>" of a baseline's file: what tells it from every other of the store.
std::string baseline_key(const std::filesystem::path& file);

struct SaveOptions {
  bool force = false;
  std::string reason;  ///< why it was forced; stored. Required with force.
};
/// The two refusals of save_baseline that need no measurement, so that they can also be made before one: for
/// the record's subject, and for the file of its name and environment. @throws as save_baseline.
void check_subject_for_saving(const RunRecord& record, const SaveOptions& options);
void check_present_baseline(const Store& store, const RunRecord& record, const SaveOptions& options);

struct SavedBaseline {
  std::filesystem::path path;
  std::vector<std::string> problems;  ///< other files of the store that are not in its table, and why
};
/// Writes the baseline (no raw steps, 6 significant digits) and regenerates baselines/README.md. Refused
/// (Error 202) unless status is ok, the tree is known to be clean, and the present file has no uncommitted
/// changes; `force` with a reason overrides the last two. Where Git would not merge the table by union,
/// baselines/.gitattributes is made to say so.
/// @throws Error 200: force without a reason.
SavedBaseline save_baseline(const Store& store, const RunRecord& record, const SaveOptions& options);

struct StoredBaseline {
  std::filesystem::path path;  ///< relative to the store's root
  RunRecord record;
};
/// All baselines, sorted by path. Files that cannot be read, or that lie where another record's baseline
/// belongs, are told of in `problems` instead.
std::vector<StoredBaseline> list_baselines(const Store& store, std::vector<std::string>& problems);

/// Rewrites baselines/README.md from the baselines that can be read, unless it is as it should be.
/// @returns the problems of list_baselines. @throws Error 202 if it cannot be written.
std::vector<std::string> write_baselines_readme(const Store& store);

/// The generated Markdown table: hardware, baseline (as baseline_key names it), model, throughput, MFU, HFU,
/// memory, communication share, commit, date. Text from records is escaped and free of control characters.
std::string baselines_table(const std::vector<StoredBaseline>& baselines);

}  // namespace flopmark
