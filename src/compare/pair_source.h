#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "compare/pair_conditions.h"
#include "launch/launch.h"

namespace flopmark {

/// One pair to measure.
struct PairRequest {
  size_t workload = 0;          ///< which config, from 0
  bool a_first = true;          ///< who starts first
  bool whole_launches = false;  ///< one after the other, instead of side by side in turns
  uint64_t seed = 1;            ///< of the order of the turns
};

/// A launch of each side. Launches that took turns hold them in their samples.
struct LaunchPair {
  LaunchOutcome a, b;
  PairConditions conditions;
  std::string time = {};  ///< when it began: UTC to the millisecond, ISO 8601
};

/// Where pairs come from: two workers, or a test's own numbers.
class PairSource {
 public:
  virtual ~PairSource() = default;
  /// Two fresh processes. @throws Error 200 to 205 as run_launch.
  virtual LaunchPair measure(const PairRequest& request) = 0;
};

}  // namespace flopmark
