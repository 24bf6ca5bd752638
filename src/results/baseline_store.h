#pragma once

#include <filesystem>
#include <optional>
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
/// The two baselines of a hardware and config. rolling: what runs are judged by; saving replaces it. anchor:
/// what it is held against over the long run, so that many small losses add up; it moves by hand only.
enum class BaselineRole { rolling, anchor };

/// baselines/<hardware>/<name>.json, of an anchor <name>.anchor.json.
/// @throws Error 202 if the name is no file name, or ends in ".anchor".
std::filesystem::path baseline_path(const Store& store, const RunRecord& record,
                                    BaselineRole role = BaselineRole::rolling);

/// "<hardware>/<name>" of a baseline's file: what tells it from every other of the store.
std::string baseline_key(const std::filesystem::path& file);

/// By the end of the file's name.
BaselineRole role_of(const std::filesystem::path& file);

struct SaveOptions {
  bool force = false;
  std::string reason;  ///< why it was forced, or the anchor moved; stored. Required for both.
  BaselineRole role = BaselineRole::rolling;
  bool keeps_replaced =
      true;  ///< the committed baseline that is replaced becomes the anchor if there is none
};

struct SavedBaseline {
  std::filesystem::path path;
  std::vector<std::string> problems;            ///< other files that are not in the store's table, and why
  std::optional<std::filesystem::path> anchor;  ///< made of the baseline that was replaced
};
/// Writes the baseline (no raw steps, 6 significant digits) and regenerates baselines/README.md. Refused
/// (Error 202) unless status is ok, the tree is known to be clean, there are launches enough, no warning
/// spoils it (see warning_kinds.h), and the present file has no uncommitted changes; `force` with a reason
/// overrides all but the status. An anchor is refused where there is no baseline yet. Where Git would not
/// merge the table by union, baselines/.gitattributes is made to say so.
/// @throws Error 200: force, or an anchor, without a reason.
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
