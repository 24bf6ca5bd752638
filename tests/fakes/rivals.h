#pragma once

#include <string>
#include <vector>

#include "stats/random.h"

namespace flopmark::testing {

/// Step times of the launches of one side.
using Launches = std::vector<std::vector<double>>;

/// A rule that others use, on ten launches of the old build and then ten of the new. True: a regression.
struct Rival {
  std::string name;
  bool (*flags)(const Launches& old_s, const Launches& new_s, Random& random);
};

/// Mann-Whitney on pooled steps and on launch medians (benchstat), mean beyond 5 %, bootstrap of the mean and
/// 1 % (criterion), difference beyond the smaller noise (nvbench's older script).
const std::vector<Rival>& rivals();

}  // namespace flopmark::testing
