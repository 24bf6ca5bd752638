#include "compare/spawn_order.h"

#include <utility>

namespace flopmark {

bool SpawnOrder::a_first(bool whole_launches) {
  if (whole_launches != of_whole_launches_) block_.clear();
  of_whole_launches_ = whole_launches;
  if (block_.empty()) {
    block_ = whole_launches ? std::vector<bool>{true, false} : std::vector<bool>{true, true, false, false};
    for (size_t i = block_.size(); i > 1; --i) {
      const size_t other = random_.index(i);
      const bool kept = block_[i - 1];
      block_[i - 1] = block_[other];
      block_[other] = kept;
    }
  }
  const bool first = block_.back();
  block_.pop_back();
  return first;
}

}  // namespace flopmark
