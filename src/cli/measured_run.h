#pragma once

#include <filesystem>
#include <optional>

#include "config/rank_place.h"
#include "config/run_config.h"
#include "launch/launch.h"
#include "results/record_file.h"

namespace flopmark {

/// Where and with what a config is measured.
struct MeasuredRunOptions {
  std::filesystem::path worker;
  bool quiet = false;
  std::optional<RankPlace> place = {};  ///< of this process, where a launcher started it as one of several
};

/// Runs the launches of `inputs.config`, each in fresh processes and a fresh scratch folder, until all are
/// done, one fails or somebody interrupts; fills in launches, failure and interrupted. @throws Error 200 from
/// a worker that refuses the config or its data, or if there is no room for its samples.
void run_launches(RecordInputs& inputs, const MeasuredRunOptions& options);

/// Whether any timed step was finished.
bool has_timed_steps(const RecordInputs& inputs);

}  // namespace flopmark
