#pragma once

#include <string>

#include "results/baseline_age.h"
#include "results/record_lookup.h"

namespace CLI {
class App;
}

namespace flopmark {

/// Adds --stale-days and --stale-commits to `command`; `limits` must outlive the parsing.
void add_age_options(CLI::App& command, AgeLimits& limits);

/// "<source>: 120 days old; stale from 90 days: measure and save it again".
std::string stale_text(const std::string& source, const BaselineAge& age, const AgeLimits& limits);

/// Warns of `baseline` if it is stale at `time` for the tree at `commit` in the repository of `store`.
void warn_if_stale(const FoundRecord& baseline, const Store& store, const AgeLimits& limits,
                   const std::string& commit, const std::string& time);

}  // namespace flopmark
