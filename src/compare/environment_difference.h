#pragma once

#include <string>
#include <vector>

#include "flopmark/record.h"

namespace flopmark {

/// not_comparable: no verdict. may_matter: listed before the numbers, and widens a stored tolerance.
/// harmless: the rest.
enum class DifferenceClass { not_comparable, may_matter, harmless };
/// not_comparable, may_matter, harmless.
const char* to_text(DifferenceClass kind);

/// One fact that differs between two records. Values are text as in the JSON ("null": not known;
/// "not recorded": a key that the other record has).
struct EnvironmentDifference {
  std::string key;  ///< environment.driver, config.train.precision, data.hash
  std::string a, b;
  DifferenceClass kind = DifferenceClass::harmless;
  bool allowed = false;  ///< named by --allow: it refuses nothing, but still widens the tolerance
};

struct DifferenceOptions {
  bool strict = false;             ///< may_matter is not_comparable
  std::vector<std::string> allow;  ///< keys, or groups of them: environment.driver, config.model
};

/// Facts of environment, configuration, data and ranks that differ, by key. Harmless ones are left out.
std::vector<EnvironmentDifference> environment_differences(const RunRecord& a, const RunRecord& b,
                                                           const DifferenceOptions& options = {});

/// Keys of `allow` that none of the differences is within.
std::vector<std::string> unused_allowances(const std::vector<EnvironmentDifference>& differences,
                                           const std::vector<std::string>& allow);

/// Whether any difference refuses a comparison: not_comparable and not allowed.
bool are_comparable(const std::vector<EnvironmentDifference>& differences);

}  // namespace flopmark
