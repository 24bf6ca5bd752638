#pragma once

#include <optional>
#include <vector>

namespace flopmark {

/// What two sittings of the same build can differ by, of one summary; log ratios. A difference of `slower` or
/// more is called slower, one below `same` not slower; between them it is open.
struct StoredTolerance {
  double slower = 0;
  double same = 0;
  bool calibrated = false;
};

struct ToleranceInputs {
  std::vector<double> launches_a, launches_b;  ///< log summaries of the launches of each record
  std::vector<double> sittings;                ///< of this summary, from sitting_ratios; empty: too few
  bool environment_differs = false;            ///< in what may matter
  std::optional<double> ruler_ratio;           ///< new / old time of a fixed computation on this machine - 1
};

/// With sittings: max(3 x 1.4826 MAD, the largest size) of their ratios. Else max(25 %, 3 x 1.4826 MAD of the
/// launches about their own record's median), and 10 % for same. An environment that differs in what may
/// matter makes it at least 25 %; a moved ruler widens it by as much as the ruler moved. On a machine that
/// became faster, equal times may hide a slower program: `same` is then lower by as much, below 0 even.
StoredTolerance stored_tolerance(const ToleranceInputs& inputs);

}  // namespace flopmark
