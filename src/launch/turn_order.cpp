#include "launch/turn_order.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "launch/control_line.h"
#include "stats/random.h"

namespace flopmark {

TurnOrder draw_turn_order(uint64_t seed, int64_t alternations) {
  constexpr size_t kBlock = 4;
  Random random(seed);
  TurnOrder order;
  order.a_starts_up_first = random.index(2) == 1;
  while (static_cast<int64_t>(order.a_first.size()) < alternations) {
    std::array<bool, kBlock> block = {true, true, false, false};
    for (size_t end = kBlock; end > 1; --end) std::swap(block[end - 1], block[random.index(end)]);
    order.a_first.insert(order.a_first.end(), block.begin(), block.end());
  }
  order.a_first.resize(static_cast<size_t>(std::max<int64_t>(alternations, 0)));
  return order;
}

int64_t steps_per_turn(double step_s_a, double step_s_b, double least_turn_s) {
  const double steps = std::ceil(least_turn_s / std::min(step_s_a, step_s_b));
  return static_cast<int64_t>(std::clamp(steps, 1.0, static_cast<double>(kMostTurnSteps)));
}

}  // namespace flopmark
