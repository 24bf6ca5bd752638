#pragma once

#include <string>

#include "cli/ab_options.h"
#include "cli/comparison_output.h"
#include "cli/run_command.h"
#include "results/baseline_age.h"

namespace flopmark {

/// The command line of `flopmark check`.
struct CheckOptions {
  RunOptions run;
  std::string baseline;              ///< file, name, REF:NAME or REF; empty: the store's own
  std::string undecided = "fail";    ///< pass, fail
  std::string no_baseline = "fail";  ///< fail, save, pass
  bool keep_sitting = false;
  bool confirm = false;  ///< goes on to flopmark ab where the verdict is slower or unsure
  AbOptions ab;          ///< of that: build, artifact, budget
  ComparisonOptions comparison;
  AgeLimits age;
};

}  // namespace flopmark
