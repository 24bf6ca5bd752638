#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "cli/check_command.h"
#include "config/run_config.h"
#include "results/baseline_store.h"
#include "results/record_lookup.h"

namespace flopmark {

/// One config with what it will be judged by.
struct PreparedCheck {
  RunConfig config;
  Store store;
  RunRecord expected;                       ///< what is known of the record before it is measured
  std::optional<FoundRecord> baseline;      ///< absent: none, and --no-baseline allows for it
  std::optional<FoundRecord> anchor;        ///< only beside the store's own baseline
  std::optional<StoredComparison> refused;  ///< already known not to be comparable with the baseline
};

/// Finds baselines and refuses whatever can be refused before measuring.
/// @throws Error 200: no --baseline under git bisect, a worker that does not answer; 202: no baseline, one
/// that cannot be read or measured nothing, is too old, or could not be saved (--no-baseline save).
std::vector<PreparedCheck> prepare_checks(const std::vector<RunConfig>& configs, const CheckOptions& options,
                                          const std::filesystem::path& worker);

}  // namespace flopmark
