#pragma once

#include <optional>

#include "cli/mfu_options.h"
#include "config/run_config.h"
#include "report/mfu_report.h"

namespace flopmark {

/// A model as flags or a config describe it.
struct DescribedModel {
  ModelShape shape;
  int64_t sequence_length = 0;
};

/// The model of `--preset`, `--layers` and so on. @throws Error 200 for what is missing (all of it in one
/// message), out of range, unknown, or does not fit together.
DescribedModel model_of_flags(const MfuOptions& options);

/// The peak that the flags give, or the config (nullptr: none). Unknown is no value, and a reason that says
/// how to give one.
Peak peak_of(const MfuOptions& options, const RunConfig* config);

/// Everything that the table of conventions rests on. @throws Error 200.
MfuSubject mfu_subject(const MfuOptions& options);

/// The FLOP/s given by hand. @throws Error 200, also where less was executed than the model needs.
RateSubject rate_subject(const MfuOptions& options);

}  // namespace flopmark
