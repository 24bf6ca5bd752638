#include "cli/sitting_keeping.h"

#include <fmt/format.h>

#include "cli/terminal.h"
#include "compare/calibration_file.h"
#include "compare/sitting_file.h"
#include "results/baseline_checks.h"
#include "results/git.h"
#include "results/warning_kinds.h"

namespace flopmark {
namespace {

/// Why the run, by itself, is like none that follows; empty if it is not.
std::string flaw_of(const RunRecord& run) {
  if (!run.subject.commit || run.subject.dirty.value_or(true)) {
    return "its tree is not known to be that of a commit";
  }
  if (run.repeats.size() < kLeastBaselineLaunches) {
    return fmt::format("it has fewer than {} launches", kLeastBaselineLaunches);
  }
  for (const Warning& warning : run.warnings) {
    if (spoils_baseline(warning.code)) return fmt::format("it was marked {}", warning.code);
  }
  // That says nothing of how much two sittings of a quiet machine differ.
  if (const auto cause = disturbance_of(run)) return *cause + " while it was measured";
  return "";
}

/// Why the run is no sitting of the baseline's build; empty if it is one.
std::string refusal(const std::filesystem::path& folder, const FoundRecord& baseline, const RunRecord& run,
                    const StoredComparison& comparison) {
  if (std::string flaw = flaw_of(run); !flaw.empty()) return flaw;
  if (!comparison.environment_differences.empty()) {
    return fmt::format("{} is not that of {}", comparison.environment_differences.front().key,
                       baseline.source);
  }
  if (calibration_key(run.config) != calibration_key(baseline.record.config)) {
    return fmt::format("its config is not that of {}", baseline.source);
  }
  const Subject& subject = baseline.record.subject;
  const bool same_build = subject.commit && !subject.dirty.value_or(true) &&
                          have_same_files(folder, *subject.commit, *run.subject.commit).value_or(false);
  return same_build ? "" : fmt::format("its files are not those that {} was measured of", baseline.source);
}

}  // namespace

std::string keep_sitting(const Store& store, const std::filesystem::path& folder, const FoundRecord& baseline,
                         const RunRecord& run, const StoredComparison& comparison) {
  const std::string why = refusal(folder, baseline, run, comparison);
  if (!why.empty()) return fmt::format("{}: not kept as a sitting: {}", run.name, why);
  const std::string build = *baseline.record.subject.commit;
  const std::filesystem::path path = sittings_path(store, run);
  add_sittings(store, path, {sitting_of(baseline.record, build), sitting_of(run, build)});
  const auto sittings = counted_sittings(read_sittings(path), calibration_key(run.config));
  return fmt::format(
      "{}: kept as a sitting in {}, with {} that count{}", run.name, display_path(path), sittings.size(),
      sitting_ratios(sittings).empty() ? fmt::format("; from {} over {:g} hours on they make the tolerance",
                                                     kLeastSittings, kLeastSittingsSpan_s / 3600)
                                       : "");
}

}  // namespace flopmark
