#pragma once

#include <cstdint>
#include <vector>

namespace flopmark {

/// Who goes first. Random inside each alternation, so that whatever the order does to a step is noise and not
/// a difference (compare.md's M3, M5), and balanced: of every four alternations from the first on, `a` begins
/// two.
struct TurnOrder {
  bool a_starts_up_first = false;
  std::vector<bool> a_first;  ///< per alternation
};

/// The same for the same seed on every machine; the label swap of any order is as likely as the order.
TurnOrder draw_turn_order(uint64_t seed, int64_t alternations);

/// Steps of one turn: as many of the faster side's as last `least_turn_s`; 1 for longer steps.
/// Both step times are above 0.
int64_t steps_per_turn(double step_s_a, double step_s_b, double least_turn_s);

}  // namespace flopmark
