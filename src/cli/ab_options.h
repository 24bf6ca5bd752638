#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compare/decision.h"
#include "compare/environment_difference.h"

namespace CLI {
class App;
}

namespace flopmark {

/// What one side of `flopmark ab` is made of; the rest is as on the other side.
struct AbSideOptions {
  std::filesystem::path worker;          ///< empty: as found, or built
  std::string reference;                 ///< a commit to build; empty: none
  std::vector<std::string> sets;         ///< key=value
  std::vector<std::string> environment;  ///< NAME=value
};

/// The command line of `flopmark ab`.
struct AbOptions {
  std::vector<std::string> configs;
  std::vector<std::string> sets;  ///< of both sides
  AbSideOptions a, b;
  std::string build;               ///< for /bin/sh -c; needed with a reference
  std::filesystem::path artifact;  ///< what it makes; empty: see ab_sides.h
  std::optional<double> mid_ratio;
  std::string budget;  ///< "30m"; empty: none
  size_t max_pairs = JudgeRule{}.looks.back();
  std::string format = "table";  ///< table, markdown, json
  std::filesystem::path output;  ///< JSON with every pair; empty: none
  std::filesystem::path peaks;   ///< more rows of the peak table; empty: none
  std::filesystem::path store;   ///< whose calibration is used; empty: top of the config's Git tree
  bool force = false;
  bool quiet = false;
  std::optional<uint64_t> seed;
  DifferenceOptions differences;
};

/// Adds every option to `command`; `options` must outlive the parsing.
void add_ab_options(CLI::App& command, AbOptions& options);

/// @throws Error 200 for options that contradict each other, have no use together, or have bad values.
void check_ab_options(const AbOptions& options);

/// @throws Error 200 if `artifact` (--artifact; empty: not given) is not a file's place inside a tree.
void check_artifact(const std::filesystem::path& artifact);

/// "90s", "30m", "2h", "45" (seconds) in seconds. @throws Error 200 naming `option`.
double duration_s(const std::string& text, const std::string& option);

/// NAME=value apart. @throws Error 200 naming `option`.
std::vector<std::pair<std::string, std::string>> variables_of(const std::vector<std::string>& texts,
                                                              const std::string& option);

/// The rule that the options ask for, uncalibrated.
JudgeRule ab_rule(const AbOptions& options);

}  // namespace flopmark
