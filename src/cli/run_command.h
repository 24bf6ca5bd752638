#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "config/rank_place.h"
#include "flopmark/error.h"

namespace flopmark {

/// The command line of `flopmark run`.
struct RunOptions {
  std::vector<std::string> configs;
  std::vector<std::string> sets;       ///< key=value
  std::filesystem::path output;        ///< of the record; empty = under results/
  std::filesystem::path store;         ///< empty = top of the config's Git tree
  std::filesystem::path worker;        ///< empty = found
  std::filesystem::path peaks;         ///< more rows of the peak table; empty = none
  std::optional<std::string> scaling;  ///< numbers of ranks to measure in turn; absent = as the config says
  std::string reason;                  ///< why something is forced
  std::string format = "text";         ///< of the config help: text, schema
  bool force = false;
  bool save_baseline = false;
  bool quiet = false;
  bool dry_run = false;
  bool help_config = false;
  std::vector<std::string> command_line;
  std::optional<RankPlace> place;  ///< of this process, where a launcher started it
};

/// Measures each config in turn. @returns ok, the first config's code that was not ok, or interrupted.
ExitCode run_run(const RunOptions& options);

}  // namespace flopmark
