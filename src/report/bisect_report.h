#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bisect/bisection.h"
#include "flopmark/record.h"
#include "results/commit_range.h"

namespace flopmark {

/// A bisection, with what its reader needs to trust and to repeat it.
struct BisectReport {
  std::string config;                         ///< its name
  std::string good_reference, bad_reference;  ///< as given
  CommitRange range;
  BisectionResult result;
  std::string build, artifact;
  size_t builds = 0;  ///< that were made now, not taken from the cache
  uint64_t seed = 0;
  double took_s = 0;
  std::optional<Environment> environment;  ///< absent if nothing was measured
  struct Command {
    std::string what;  ///< "to go on", "to repeat the search"
    std::string line;  ///< as to be typed
  };
  std::vector<Command> commands;
};

/// For the terminal, at most kTextWidth columns (only commands may be longer): the commits that were tested,
/// phases and operators that the culprit changed, commands, the answer last.
std::string bisect_text(const BisectReport& report);

/// For a pull request: the answer first, then tables. Text that others wrote is escaped.
std::string bisect_markdown(const BisectReport& report);

/// `flopmark.bisection/1`: outcome, culprit, change, candidates, every commit that was tested with its
/// pairs, environment and commands. Ends in a line feed.
std::string bisect_json(const BisectReport& report);

}  // namespace flopmark
