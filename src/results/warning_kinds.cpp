#include "results/warning_kinds.h"

#include <algorithm>
#include <array>

namespace flopmark {
namespace {

constexpr std::array kKinds{
    WarningKind{"clock_drop", true},
    WarningKind{"clock_not_locked", false},
    WarningKind{"cpu_shared", false},
    WarningKind{"data_wait_dominates", false},
    WarningKind{"debug_build", true},
    WarningKind{"device_shared", true},
    WarningKind{"devices_differ", false},
    WarningKind{"dirty_tree", true},
    WarningKind{"dirty_unknown", true},
    WarningKind{"drift", false},
    WarningKind{"exposed_unknown", false},
    WarningKind{"few_launches", false},
    WarningKind{"few_steps", false},
    WarningKind{"flops_differ", false},
    WarningKind{"loader_slow", false},
    WarningKind{"loss_constant", false},
    WarningKind{"no_commit", true},
    WarningKind{"not_believable", true},
    WarningKind{"not_steady", false},
    WarningKind{"peak_clock", false},
    WarningKind{"phases_do_not_add_up", false},
    WarningKind{"ruler_moved", false},
    WarningKind{"sanitizer_build", true},
    WarningKind{"slow_rank", false},
    WarningKind{"steps_skipped", false},
    WarningKind{"throttled", true},
    WarningKind{"uncounted_operators", false},
    WarningKind{"wall_disagrees", true},
    WarningKind{"zero_inputs", true},
};

}  // namespace

std::span<const WarningKind> warning_kinds() {
  return kKinds;
}

bool spoils_baseline(const std::string& code) {
  return std::any_of(kKinds.begin(), kKinds.end(),
                     [&](const WarningKind& kind) { return kind.spoils_baseline && kind.code == code; });
}

}  // namespace flopmark
