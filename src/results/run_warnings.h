#pragma once

#include <optional>
#include <vector>

#include "flopmark/record.h"
#include "measure/samples.h"

namespace flopmark {

/// What is doubtful about how the launches ran, in this order and each code at most once:
/// not_steady (warm-up ended unsteady), drift (step time moved within a launch, at once or slowly), few_steps
/// (under 30 in a launch), few_launches (under 5), wall_disagrees (steps and wall clock differ by over 1 %),
/// phases_do_not_add_up (by over 2 %), flops_differ (between launches), uncounted_operators, loss_constant
/// (the very same over 10 steps or more), steps_skipped (an update was left out since a gradient overflowed).
std::vector<Warning> launch_warnings(const std::vector<LaunchSamples>& launches);

/// What the machine did that makes the times doubtful, in this order and each code at most once: throttled
/// (the device gave a reason to be slow in 1 % of the samples or more), clock_drop (its clock fell by over
/// 5 %), clock_not_locked (it moved by over 1 %, and no setting holds it), device_shared (others' work on the
/// device), cpu_shared (steal or others' load over 5 %, the timed thread without a CPU for over 2 %, or over
/// 100 involuntary switches a second and CPU).
std::vector<Warning> condition_warnings(const std::vector<LaunchSamples>& launches);

/// data_wait_dominates (half of the time or more went into waiting for batches) or loader_slow (the typical
/// step waits for over 5 % of its time); zero_inputs (see LaunchSamples).
std::vector<Warning> data_warnings(const std::vector<LaunchSamples>& launches);

/// debug_build (worker or LibTorch), sanitizer_build, ruler_moved (see ruler.h): from the record's
/// environment and ruler.
std::vector<Warning> machine_warnings(const RunRecord& record);

/// Of a job of several ranks: slow_rank (one computes for over 10 % longer than the median of the others, on
/// the mean and in three quarters of the launches; 25 % where CPU ranks share a host's cores), devices_differ
/// (not all ranks run on devices of one name), exposed_unknown (what the exchange costs a step could not be
/// measured).
std::vector<Warning> rank_warnings(const RunRecord& record, const std::vector<LaunchSamples>& launches);

/// no_commit, dirty_tree, dirty_unknown.
std::vector<Warning> subject_warnings(const Subject& subject);

/// not_believable, with the inputs used and the likely causes, if MFU or HFU is over 1.
std::optional<Warning> believability_warning(const RunRecord& record);

}  // namespace flopmark
