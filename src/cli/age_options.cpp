#include "cli/age_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "cli/option_checks.h"
#include "cli/terminal.h"

namespace flopmark {

void add_age_options(CLI::App& command, AgeLimits& limits) {
  command.add_option("--stale-days", limits.days, "Warn of a baseline from this age on; 0: never")
      ->capture_default_str()
      ->type_name("DAYS")
      ->check(not_negative());
  command.add_option("--stale-commits", limits.commits, "Likewise, in commits since it was measured")
      ->capture_default_str()
      ->type_name("N")
      ->check(not_negative());
}

std::string stale_text(const std::string& source, const BaselineAge& age, const AgeLimits& limits) {
  return fmt::format("{}: {}: measure and save it again", source, age_text(age, limits));
}

void warn_if_stale(const FoundRecord& baseline, const Store& store, const AgeLimits& limits,
                   const std::string& commit, const std::string& time) {
  const BaselineAge age = baseline_age(baseline.record, store.root, commit, time);
  if (freshness(age, limits) != Freshness::fresh) write_warning(stale_text(baseline.source, age, limits));
}

}  // namespace flopmark
