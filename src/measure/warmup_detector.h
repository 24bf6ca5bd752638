#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace flopmark {

/// The change of level that a series shows, and what noise explains.
struct LevelShift {
  double shift_ratio = 0;      ///< later / earlier - 1, of the medians on both sides of the split
  double tolerance_ratio = 0;  ///< at that split, relative to the earlier median
  size_t split = 0;            ///< values before the split; 0 where there was nothing to compare
  bool beyond() const;
};

/// Compares the medians on both sides of every split of `values` (seconds, in order of time) that leaves at
/// least `min_part` values on each side. Of the splits beyond the tolerance it returns the one where two
/// levels fit best; if there is none, the one nearest to it. The tolerance is 2 %, or five standard errors of
/// the difference where that is more, but never twofold; noise is taken from differences of values at most
/// four apart, so that a slow trend is not taken for noise, nor a few outliers. Of 40 steps of pure noise
/// about 2 % are called a shift when neighbours correlate by 0.6, practically none when they are independent.
/// Fewer than 2 min_part values compare nothing (split 0).
LevelShift largest_level_shift(const std::vector<double>& values, size_t min_part);

/// The same between the first quarter of `values` and the last, which sees a slow drift better than any split
/// in two does. `split` is the length of a quarter; under 4 min_part values compare nothing.
LevelShift quarter_shift(const std::vector<double>& values, size_t min_part);

/// Decides from the step times so far whether the process is steady: in the last 40 steps (or as many as
/// `max_steps` allows) no split into two parts of at least 8 steps has medians that differ, up or down, by
/// more than 2 % or what the steps' own noise explains. A step up, a step down and a slow drift all count as
/// unsteady; single and periodic outliers do not. With fewer than 16 steps the parts are halves; fewer than 4
/// are never called steady.
class WarmupDetector {
 public:
  WarmupDetector(int64_t min_steps, int64_t max_steps);
  void add(double step_s);
  /// At least `min_steps` and a full window of steps, and no shift in the window.
  bool steady() const;
  /// The same for a warm-up that had to end early: a window that is not full is judged, if it holds 16 steps
  /// (fewer only where `max_steps` is less).
  bool steady_so_far() const;
  /// One sentence on the present state, with the figures it rests on.
  std::string reason() const;

 private:
  bool judgeable() const;
  LevelShift shift() const;

  size_t min_steps_;
  size_t window_;
  std::vector<double> step_s_;
};

}  // namespace flopmark
