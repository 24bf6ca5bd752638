#pragma once

#include <vector>

#include "stats/random.h"

namespace flopmark {

/// Who starts first in each pair: in random order, and as often one as the other in every block.
class SpawnOrder {
 public:
  explicit SpawnOrder(uint64_t seed) : random_(seed) {}
  /// Whether a starts first in the next pair. Blocks of four pairs: two each. Whole launches come in blocks
  /// of two pairs, ABBA or BAAB, so that a drift meets both alike.
  bool a_first(bool whole_launches);

 private:
  Random random_;
  bool of_whole_launches_ = false;
  std::vector<bool> block_;  ///< what is left of it, last first
};

}  // namespace flopmark
