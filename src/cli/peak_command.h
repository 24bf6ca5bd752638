#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "flopmark/error.h"

namespace flopmark {

/// The command line of `flopmark peak`.
struct PeakOptions {
  std::vector<std::string> devices;  ///< names; with --measure one of auto, cpu, cuda, cuda:N
  std::string precision;             ///< empty: all
  std::filesystem::path peaks;       ///< a file with more rows; empty: none
  std::string format = "text";
  bool measure = false;
  double seconds = 40;
  int64_t threads = 0;
  std::filesystem::path worker;
  bool quiet = false;
};

/// Searches the best matmul rate in a worker and keeps it. @returns ok, or interrupted (then nothing is
/// kept).
/// @throws Error 125 if the worker fails.
ExitCode run_peak_measure(const PeakOptions& options);

}  // namespace flopmark
