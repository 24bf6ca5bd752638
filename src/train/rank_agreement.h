#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "config/run_config.h"
#include "flopmark/record.h"

namespace flopmark {

/// What must be equal on all ranks of a job, besides the config: read before the first collective, since
/// tensors of different sizes would end a process there without a word.
struct RankFacts {
  std::string device_kind;  ///< cpu, cuda
  std::string libtorch;
  DataSummary data;         ///< its path may differ
  int64_t parameters = 0;   ///< values
  std::string shapes_hash;  ///< of all parameters' sizes and dtypes, in order
};

/// The facts of one rank as one flat object, key by key. Of the config, what is a rank's own is left out:
/// device, paths of files.
nlohmann::json facts_to_json(const RankFacts& facts, const RunConfig& config);

/// Where the ranks' facts differ, a line per key with each value and its ranks, at most 20 lines; empty if
/// they are equal. `facts` and `hosts` by rank.
std::string difference_of(const std::vector<nlohmann::json>& facts, const std::vector<std::string>& hosts);

/// The first two ranks that would share a GPU, in words; empty if none do. UUIDs by rank, empty where it is
/// not known.
std::string shared_gpu(const std::vector<std::string>& uuids, const std::vector<std::string>& hosts);

}  // namespace flopmark
