#include "results/baseline_checks.h"

#include <fmt/format.h>

#include "flopmark/error.h"
#include "results/git.h"
#include "results/warning_kinds.h"

namespace flopmark {
namespace {

[[noreturn]] void refuse_saving(const std::string& name, const std::string& why) {
  throw baseline_error(fmt::format("baseline \"{}\" not saved: {}", name, why));
}

std::string status_refusal(const RunRecord& record) {
  std::string why =
      fmt::format("its status is {}, and only ok can be a baseline, forced or not", record.status);
  if (record.failure)
    why += fmt::format(" ({} in {}: {})", record.failure->kind, record.failure->phase, record.failure->text);
  for (const auto& warning : record.warnings) {
    if (warning.code == "not_believable") why += fmt::format(" ({})", warning.text);
  }
  return why;
}

void check_tree(const RunRecord& record) {
  constexpr const char* kForce = "or force it with a reason";
  const Subject& subject = record.subject;
  const std::string reason = subject.reason.value_or("no reason given");
  if (!subject.commit) {
    refuse_saving(record.name,
                  fmt::format("there is no commit to name it by ({}); commit first, {}", reason, kForce));
  }
  if (!subject.dirty) {
    refuse_saving(record.name, fmt::format("Git cannot tell whether the tree has changes ({}); mend it, {}",
                                           reason, kForce));
  }
  if (*subject.dirty) {
    refuse_saving(record.name,
                  fmt::format("the tree it was measured in has changes that are not committed; commit or "
                              "stash them and measure again, {}",
                              kForce));
  }
}

/// Times that are not those of this work on this device are no reference for anybody.
void check_warnings(const RunRecord& record) {
  for (const auto& warning : record.warnings) {
    if (!spoils_baseline(warning.code)) continue;
    refuse_saving(record.name, fmt::format("its run was marked {} ({}); measure again, or force it with a "
                                           "reason",
                                           warning.code, warning.text));
  }
}

}  // namespace

void check_save_reason(const SaveOptions& options) {
  if (options.reason.find_first_not_of(" \t\r\n") != std::string::npos) return;
  if (options.force) throw usage_error("a forced save needs a reason, which is stored in the baseline");
  if (options.role == BaselineRole::anchor) {
    throw usage_error("an anchor is moved with a reason, which is stored in it");
  }
}

void check_subject_for_saving(const RunRecord& record, const SaveOptions& options) {
  check_save_reason(options);
  if (!options.force) check_tree(record);
}

void check_launches_for_saving(const std::string& name, size_t launches, const SaveOptions& options) {
  if (options.force || launches >= kLeastBaselineLaunches) return;
  refuse_saving(name, fmt::format("it has only {} launch{}, and one that went wrong would be the baseline; "
                                  "measure {} or more (measure.repeats), or force it with a reason",
                                  launches, launches == 1 ? "" : "es", kLeastBaselineLaunches));
}

void check_record_for_saving(const RunRecord& record, const SaveOptions& options) {
  if (record.status != "ok") refuse_saving(record.name, status_refusal(record));
  check_subject_for_saving(record, options);
  check_launches_for_saving(record.name, record.repeats.size(), options);
  if (!options.force) check_warnings(record);
}

void check_present_baseline(const Store& store, const RunRecord& record, const SaveOptions& options) {
  const std::filesystem::path path = baseline_path(store, record, options.role);
  if (options.force || !has_uncommitted_changes(path)) return;
  refuse_saving(record.name, fmt::format("{} is in no commit as it is now and would be lost; commit or "
                                         "remove it first, or force it with a reason",
                                         path.string()));
}

}  // namespace flopmark
