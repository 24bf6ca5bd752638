#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "config/rank_place.h"
#include "worker/job.h"

namespace flopmark {

struct SessionOptions {
  std::filesystem::path config;   ///< resolved config, JSON
  std::filesystem::path samples;  ///< where the raw samples go
  int progress_fd = -1;
  int64_t turns = 0;  ///< above 0: takes turns (launch/control_line.h), this many timed steps are wanted
  bool count_only = false;    ///< count the FLOPs of a step, measure nothing
  bool measure_peak = false;  ///< search the best matmul rate; `config` is then that of measure_peak.h
  std::optional<RankPlace> place = {};  ///< in a job of several ranks; absent: alone
};

/// One launch, from the resolved config to the raw-sample file: load, warm-up, timed steps, counted step,
/// save. Whatever goes wrong is reported on the progress pipe. @returns the worker's exit code: 0 samples
/// written, 125 a failure was reported, 200 and up a user's mistake was reported.
int run_session(const SessionOptions& options, const ModelMaker& maker);

}  // namespace flopmark
