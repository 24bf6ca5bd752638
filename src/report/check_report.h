#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compare/paired_comparison.h"
#include "compare/stored_comparison.h"
#include "flopmark/error.h"
#include "results/record_lookup.h"

namespace flopmark {

/// A stored record and what was judged by it.
struct Judgement {
  FoundRecord reference;
  StoredComparison comparison;
};

/// What `flopmark check` found of one config. Neither baseline nor remark: nothing was measured.
struct CheckResult {
  std::string name;
  FoundRecord candidate;  ///< of a refusal before measuring: the config's file and what is known
  bool measured = true;   ///< there is a record at candidate.source
  std::optional<Judgement> baseline, anchor;
  std::optional<PairedComparison> confirmation;  ///< both builds side by side, after a verdict of stored ones
  std::string no_confirmation;                   ///< why that was asked for and failed; empty if it did not
  std::string remark;  ///< what happened instead of a verdict; empty if there is one
  ExitCode code = ExitCode::ok;
};

/// The stored record that makes the verdict: the baseline, or the anchor if that judges worse. An anchor that
/// is not comparable counts for nothing. None without a baseline, or where there is a remark instead.
const Judgement* deciding_judgement(const CheckResult& result);

/// The verdict of the confirmation, if there is one, else of the deciding judgement.
std::optional<Verdict> verdict_of(const CheckResult& result);

/// One config for the terminal: the comparison with the baseline, with the anchor where that is worse (else
/// in a line), then the confirmation, last the verdict. At most kTextWidth columns, but for commands.
std::string check_text(const CheckResult& result);

/// All for a pull request. Text from records is escaped.
std::string check_markdown(const std::vector<CheckResult>& results);

/// `flopmark.check/1`: the worst verdict, the exit code, and per config its verdict with the documents of
/// both comparisons (`flopmark.comparison/1`) and of the confirmation, null where there is none. Ends in a
/// line feed.
std::string check_json(const std::vector<CheckResult>& results, ExitCode code);

}  // namespace flopmark
