#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace flopmark {

/// Decides from the step times so far whether the process is steady: in the last 40 steps (or as many as
/// `max_steps` allows) no split into two parts of at least 8 steps has medians that differ, up or down, by more than
/// 2 % or what the steps' own noise explains. A step up, a step down and a slow drift all count as unsteady.
class WarmupDetector {
 public:
  explicit WarmupDetector(int64_t min_steps, int64_t max_steps);
  void add(double step_s);
  bool steady() const;
  /// One sentence on the present state, with the figures it rests on.
  std::string reason() const;

 private:
  int64_t min_steps_;
  int64_t window_;
  std::vector<double> step_s_;
};

/// The largest relative difference of medians over all splits of `values` and what noise explains.
struct LevelShift {
  double shift_ratio = 0;      ///< later / earlier - 1 at the split where it most exceeds the tolerance
  double tolerance_ratio = 0;  ///< at that split
  size_t split = 0;
  bool beyond() const;
};
LevelShift largest_level_shift(const std::vector<double>& values, size_t min_part);

}  // namespace flopmark
