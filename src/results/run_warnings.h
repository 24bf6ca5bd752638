#pragma once

#include <optional>
#include <vector>

#include "flopmark/record.h"
#include "measure/samples.h"

namespace flopmark {

/// What is doubtful about how the launches ran, in this order and each code at most once:
/// not_steady (warm-up ended unsteady), drift (step time moved within a launch), few_steps (under 30 in a
/// launch), few_launches (under 5), wall_disagrees (steps and wall clock differ by over 1 %),
/// phases_do_not_add_up (by over 2 %), flops_differ (between launches), uncounted_operators, loss_constant
/// (the very same over 10 steps or more).
std::vector<Warning> launch_warnings(const std::vector<LaunchSamples>& launches);

/// no_commit, dirty_tree, dirty_unknown.
std::vector<Warning> subject_warnings(const Subject& subject);

/// not_believable, with the inputs used and the likely causes, if MFU or HFU is over 1.
std::optional<Warning> believability_warning(const RunRecord& record);

}  // namespace flopmark
