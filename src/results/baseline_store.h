#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "flopmark/record.h"

namespace flopmark {

/// Where records and baselines lie: the top of the Git tree that holds the config, else the current folder; --store
/// overrides.
struct Store {
  std::filesystem::path root;
  std::filesystem::path results() const { return root / "results"; }
  std::filesystem::path baselines() const { return root / "baselines"; }
};
Store find_store(const std::filesystem::path& given, const std::filesystem::path& config_file);

/// results/<name>/<time>-<pid>-<commit or nogit>.json
std::filesystem::path record_path(const Store& store, const RunRecord& record);
/// baselines/<hardware>/<name>.json
std::filesystem::path baseline_path(const Store& store, const RunRecord& record);

struct SaveOptions {
  bool force = false;
  std::string reason;  ///< why it was forced; stored. Required with force.
};
/// Writes the baseline and regenerates baselines/README.md. Refused (Error 202) unless status is ok, the tree is clean, and
/// the present file has no uncommitted changes; `force` with a reason overrides the last two.
/// @returns the file written.
std::filesystem::path save_baseline(const Store& store, const RunRecord& record, const SaveOptions& options);

struct StoredBaseline {
  std::filesystem::path path;  ///< relative to the store's root
  RunRecord record;
};
/// All baselines, sorted by path. Files that cannot be read are listed in `problems`.
std::vector<StoredBaseline> list_baselines(const Store& store, std::vector<std::string>& problems);

/// The generated table: hardware, model, throughput, MFU, HFU, memory, communication share, commit, date.
std::string baselines_table(const std::vector<StoredBaseline>& baselines);

}  // namespace flopmark
