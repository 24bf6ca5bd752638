#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "compare/environment_difference.h"
#include "results/commit_range.h"

namespace CLI {
class App;
}

namespace flopmark {

/// The command line of `flopmark bisect`.
struct BisectOptions {
  std::string config;
  std::string good, bad;  ///< references
  std::string build;      ///< for /bin/sh -c
  std::string path;       ///< only commits that changed it; empty: all
  bool first_parent = false;
  std::filesystem::path artifact;  ///< what the build makes; empty: see ab_sides.h
  std::filesystem::path worker;    ///< for an artifact that is a model; empty: as found
  std::vector<std::string> sets;
  std::string budget;                ///< "2h"; empty: none
  std::string build_timeout = "1h";  ///< of one build
  std::string cache_size = "10G";    ///< of artifacts kept
  bool resume = false;
  std::optional<uint64_t> seed;
  std::string format = "table";  ///< table, markdown, json
  std::filesystem::path output;  ///< JSON; empty: none
  bool force = false;
  bool quiet = false;
  DifferenceOptions differences;
};

/// Adds every option to `command`; `options` must outlive the parsing.
void add_bisect_options(CLI::App& command, BisectOptions& options);

/// @throws Error 200 for bad values and options that have no use together.
void check_bisect_options(const BisectOptions& options);

/// "500M", "10G" (powers of 1024), "1000" (bytes) in bytes. @throws Error 200 naming `option`.
int64_t size_bytes(const std::string& text, const std::string& option);

/// As to be typed: the same search between other commits.
std::string bisect_line(const BisectOptions& options, const std::string& good, const std::string& bad);
/// The comparison of two commits, built the same way.
std::string ab_line(const BisectOptions& options, const std::string& a, const std::string& b);
/// The same search by `git bisect run`, each commit against the good one.
std::string git_bisect_line(const BisectOptions& options, const CommitRange& range, double mid_ratio);

}  // namespace flopmark
