#include "cli/ab_calibration.h"

#include "compare/calibration.h"
#include "compare/calibration_file.h"
#include "hardware/environment.h"
#include "launch/launch.h"

namespace flopmark {

JudgeRule calibrated_by_store(const JudgeRule& rule, const PairedSide& a,
                              const std::filesystem::path& store) {
  const RunConfig& config = a.inputs.config;
  const Store place = find_store(store, config.file);
  if (!has_calibration(place, config.name)) return rule;
  const Environment environment =
      of_ranks(merge_environment(a.inputs.host, ask_worker_environment(a.worker, config.device)),
               config.parallel.ranks);
  const auto pairs = read_calibration(calibration_path(place, config.name, environment));
  return rule_calibrated_by(calibration_ratios(pairs, calibration_key(config)), rule);
}

}  // namespace flopmark
