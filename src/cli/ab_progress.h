#pragma once

#include <string>
#include <vector>

#include "compare/paired_session.h"

namespace flopmark {

/// Progress of `flopmark ab` on standard error: one line redrawn in place at the start of each pair (never
/// while steps are timed), or where that is not a terminal a line at the first pair and after each look.
class AbProgress {
 public:
  AbProgress(bool quiet, std::vector<size_t> looks);
  ~AbProgress() { wipe(); }
  AbProgress(const AbProgress&) = delete;
  AbProgress& operator=(const AbProgress&) = delete;

  void building(const std::string& commit);
  void waiting_for_build(const std::string& commit);
  void pair_begins(const PairedProgress& progress);
  void wipe();

 private:
  void show(const std::string& line);

  bool quiet_, terminal_, on_screen_ = false;
  std::vector<size_t> looks_;
};

/// "tiny: pair 13 of at most 64, at most 3 min 05 s left".
std::string progress_text(const PairedProgress& progress);

}  // namespace flopmark
