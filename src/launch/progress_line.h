#pragma once

#include <functional>
#include <iosfwd>
#include <memory>
#include <string>

#include "launch/launch.h"

namespace flopmark {

/// Where progress is shown and what clock its estimates use; a test puts its own in.
struct ProgressLineOptions {
  std::ostream* stream = nullptr;      ///< not owned
  bool terminal = false;               ///< redraw one line; else plain lines
  std::function<int()> width_columns;  ///< asked before each drawing
  std::function<double()> now_s;       ///< monotonic
};

/// The sink of make_progress_line(bool) on any stream.
std::unique_ptr<ProgressSink> make_progress_line(const ProgressLineOptions& options);

/// "8 s", "3 min 05 s", "2 h 05 min": rounded up, for a wait.
std::string wait_text(double wait_s);

}  // namespace flopmark
