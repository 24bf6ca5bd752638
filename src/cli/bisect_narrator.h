#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "bisect/bisect_world.h"
#include "cli/ab_progress.h"
#include "results/commit_range.h"

namespace flopmark {

/// Tells on standard error what a bisection does: a line for each build and comparison, and the pairs as `ab`
/// tells them.
class BisectNarrator {
 public:
  BisectNarrator(const CommitRange& range, bool quiet, std::vector<size_t> looks);

  /// Says nothing of a build: the cache may have it, and build_begins tells when it has not.
  void begins(const BisectProgress& progress);
  void build_begins(const std::string& commit) { tell("building " + name_of(commit)); }
  void pair_begins(const PairedProgress& progress) { pairs_.pair_begins(progress); }
  void compared(const PairedEvidence& evidence);
  void wipe() { pairs_.wipe(); }

  /// "0230d94c2b Add a cache", or the hash alone of a commit outside the range.
  std::string name_of(const std::string& commit) const;

 private:
  void tell(const std::string& line);

  std::map<std::string, std::string> subjects_;
  bool quiet_;
  AbProgress pairs_;
};

/// "5 candidates, 3 commits to test at most, about 12 min 00 s".
std::string left_text(const BisectProgress& progress);

}  // namespace flopmark
