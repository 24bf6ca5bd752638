#include "cli/baseline_saving.h"

#include <fmt/format.h>

#include <system_error>

#include "cli/comparison_output.h"
#include "cli/terminal.h"
#include "compare/measured_record.h"
#include "flopmark/error.h"
#include "report/shell_quoted.h"
#include "results/baseline_checks.h"
#include "results/git.h"
#include "results/record_file.h"

namespace flopmark {
namespace {

/// How to commit the store, from where one stands; empty outside Git.
std::string commit_line(const Store& store) {
  if (!tree_top(store.root)) return "";
  const std::filesystem::path baselines = display_path(store.baselines());
  const std::string add = baselines.is_relative()
                              ? "git add " + shell_quoted(baselines.string())
                              : "git -C " + shell_quoted(store.root.string()) + " add baselines";
  return "commit it: " + add + "\n";
}

/// The present baseline of the record's hardware and config; absent if there is none, or if it is too damaged
/// to judge by (then that is said).
std::optional<FoundRecord> present_baseline(const Store& store, const RunRecord& record) {
  const std::filesystem::path path = baseline_path(store, record);
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return std::nullopt;
  try {
    FoundRecord present{read_record(path), display_path(path)};
    require_measured(present.record, present.source, Side::reference);
    return present;
  } catch (const Error& error) {
    write_warning(fmt::format("the present baseline is not judged against: {}", error.what()));
    return std::nullopt;
  }
}

/// Refuses a record slower than `present`. @returns whether the two are comparable.
bool check_not_slower(const FoundRecord& present, const FoundRecord& record, const SaveOptions& options,
                      const Store& store) {
  const StoredComparison comparison = judge(present, record, {}, store);
  if (comparison.verdict == Verdict::slower && !options.force) {
    throw Error(
        ExitCode::slower,
        fmt::format("baseline \"{}\" not saved: slower than the present one, {}: {}; if that is meant "
                    "to be, force it with a reason",
                    record.record.name, present.source, comparison.reason));
  }
  if (comparison.verdict == Verdict::unsure) {
    write_warning(fmt::format("against the present baseline, {}: {}", present.source, comparison.reason));
  }
  return comparison.verdict != Verdict::not_comparable;
}

std::string anchor_text(const SavedBaseline& saved) {
  if (!saved.anchor) return "";
  return fmt::format("anchor   {}: the baseline that was replaced; it only moves by hand\n",
                     display_path(*saved.anchor));
}

}  // namespace

std::string save_as_baseline(const Store& store, const RunRecord& record, const SaveOptions& options) {
  SaveOptions how = options;
  check_record_for_saving(record, how);
  require_measured(record, fmt::format("baseline \"{}\" not saved", record.name), Side::reference);
  if (how.role == BaselineRole::rolling) {
    const auto present = present_baseline(store, record);
    how.keeps_replaced = present && check_not_slower(*present, {record, record.name}, how, store);
  }
  const SavedBaseline saved = save_baseline(store, record, how);
  for (const std::string& problem : saved.problems) write_warning(problem);
  return fmt::format("{} {}\n", how.role == BaselineRole::anchor ? "anchor  " : "baseline",
                     display_path(saved.path)) +
         anchor_text(saved) + commit_line(store);
}

}  // namespace flopmark
