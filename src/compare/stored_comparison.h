#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compare/environment_difference.h"
#include "compare/launch_summary.h"
#include "compare/ruler_change.h"
#include "compare/verdict.h"
#include "flopmark/error.h"
#include "flopmark/record.h"
#include "metrics/metrics.h"

namespace flopmark {

/// What a change of one metric means, its direction taken into account. differs: a number that should be
/// equal is not. none: neither direction is better.
enum class Change { better, worse, same, unsure, differs, not_measured, none };
/// better, worse, same, unsure, differs, not_measured, none.
const char* to_text(Change change);

/// Step time by one summary of the launches: median launch of each record, and the shift between them.
struct SummaryComparison {
  Summary summary = Summary::throughput;
  bool gates = false;
  double a_s = 0, b_s = 0;
  double change_ratio = 0;                                ///< Hodges-Lehmann shift of the launches
  std::optional<double> ci95_low_ratio, ci95_high_ratio;  ///< launches of these two sittings only
  double tolerance_ratio = 0;                             ///< what two sittings of one build can differ by
  bool calibrated = false;
  Change change = Change::same;
};

/// One metric of the records; a or b absent where it was not measured.
struct MetricComparison {
  std::string key, title;
  Unit unit = Unit::ratio;
  Better better = Better::neither;
  std::optional<double> a, b;
  std::optional<double> change_ratio;  ///< b / a - 1; absent where that says nothing
  Change change = Change::none;
};

/// Two records judged. Nothing is confirmed by stored records: see unconfirmed.
struct StoredComparison {
  Verdict verdict = Verdict::unsure;
  bool unconfirmed = false;  ///< slower or unsure: two sittings were compared, not two builds side by side
  std::vector<EnvironmentDifference> environment_differences;
  std::vector<SummaryComparison> summaries;  ///< empty if not comparable
  std::vector<MetricComparison> metrics;     ///< in the order of the run's table, then what only records know
  std::vector<MetricComparison> deterministic;  ///< FLOPs, parameters, loss: equal for equal work
  std::optional<RulerChange> ruler;             ///< the machine itself; absent where the records do not tell
  /// What else the machine did while B was measured, where B would be slower: that is no verdict then. Empty
  /// if nothing (see disturbance).
  std::string interference;
  std::vector<std::string> notes;
  std::string reason;  ///< one sentence

  const SummaryComparison* throughput() const;
};

struct CompareOptions {
  DifferenceOptions differences;
  std::vector<std::vector<double>> sittings;  ///< sitting_ratios of the records' config; may be empty
  std::string name_a = "A", name_b = "B";     ///< how messages call the records
};

/// Judges B against A by their launches, each summary with the tolerance of stored_tolerance, which the
/// records' rulers widen. Gates are throughput and floor. slower: a gate is beyond its tolerance; faster:
/// throughput is, on the other side, and no gate is open; same: every gate is below 10 %; else unsure. So is
/// a slower B during which other work took the CPUs: the same causes for which a pair is measured again.
/// @throws Error 202 or 125 as require_measured.
StoredComparison compare_records(const RunRecord& a, const RunRecord& b, const CompareOptions& options = {});

/// What other work did while a record was measured, by the causes for which a pair is measured again; absent
/// if none, or not known.
std::optional<std::string> disturbance_of(const RunRecord& record);

/// Of the verdict; 203 where interference left none.
ExitCode exit_code(const StoredComparison& comparison);

}  // namespace flopmark
