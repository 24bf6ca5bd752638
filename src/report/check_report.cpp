#include "report/check_report.h"

#include <fmt/format.h>

#include <array>
#include <iterator>

#include "flopmark/counted.h"
#include "report/comparison_report.h"
#include "report/comparison_rows.h"
#include "report/confirm_line.h"
#include "report/paired_report.h"
#include "report/text_layout.h"
#include "report/units.h"
#include "results/markdown_text.h"

namespace flopmark {
namespace {

using nlohmann::json;

/// From the best to the worst.
constexpr std::array kVerdictOrder{Verdict::faster, Verdict::same, Verdict::unsure, Verdict::slower,
                                   Verdict::not_comparable};

size_t badness(Verdict verdict) {
  size_t at = 0;
  while (kVerdictOrder[at] != verdict) ++at;
  return at;
}

bool counts(const std::optional<Judgement>& anchor) {
  return anchor && anchor->comparison.verdict != Verdict::not_comparable;
}

/// Whether the anchor is what makes the verdict.
bool is_worse_than_baseline(const CheckResult& result) {
  const Verdict baseline = result.baseline->comparison.verdict;
  return counts(result.anchor) && badness(result.anchor->comparison.verdict) > badness(Verdict::same) &&
         badness(result.anchor->comparison.verdict) > badness(baseline);
}

ComparisonReport report_of(const Judgement& judgement, const FoundRecord& candidate) {
  return {judgement.reference, candidate, judgement.comparison};
}

std::string anchor_line(const Judgement& anchor) {
  return fmt::format("{} ({}): {}: {}", anchor.reference.source, record_origin(anchor.reference.record),
                     to_text(anchor.comparison.verdict), anchor.comparison.reason);
}

/// What the stored records say.
std::string stored_conclusion(const CheckResult& result) {
  const Judgement& deciding = *deciding_judgement(result);
  const std::string verdict = to_text(deciding.comparison.verdict);
  if (!is_worse_than_baseline(result)) {
    return deciding.comparison.unconfirmed ? verdict + ", unconfirmed" : verdict;
  }
  return fmt::format(
      "{} against the anchor, {} against the baseline: small changes have added up; unconfirmed", verdict,
      to_text(result.baseline->comparison.verdict));
}

/// The whole in one sentence.
std::string conclusion(const CheckResult& result) {
  if (!result.remark.empty()) return result.remark;
  if (!deciding_judgement(result)) return "no baseline";
  const std::string stored = stored_conclusion(result);
  if (result.confirmation) {
    return fmt::format("{} by {} side by side; by stored records {}", to_text(result.confirmation->verdict),
                       counted(std::ssize(result.confirmation->result.pairs), "pair"), stored);
  }
  return result.no_confirmation.empty() ? stored : fmt::format("{}: {}", stored, result.no_confirmation);
}

json judgement_json(const std::optional<Judgement>& judgement, const FoundRecord& candidate) {
  return judgement ? json::parse(comparison_json(report_of(*judgement, candidate))) : json(nullptr);
}

json result_json(const CheckResult& result) {
  const auto verdict = verdict_of(result);
  const Judgement* deciding = deciding_judgement(result);
  return {{"name", result.name},
          {"verdict", verdict ? json(to_text(*verdict)) : json(nullptr)},
          {"reason", conclusion(result)},
          {"exit_code", static_cast<int>(result.code)},
          {"record", result.measured ? json(result.candidate.source) : json(nullptr)},
          {"confirm", deciding && deciding->comparison.unconfirmed
                          ? json(confirm_line(deciding->reference.record, result.candidate.record))
                          : json(nullptr)},
          {"baseline", judgement_json(result.baseline, result.candidate)},
          {"anchor", judgement_json(result.anchor, result.candidate)},
          {"confirmation",
           result.confirmation ? json::parse(paired_json({*result.confirmation})) : json(nullptr)}};
}

std::string result_markdown(const CheckResult& result) {
  std::string text =
      fmt::format("### {}: {}\n\n", markdown_escaped(result.name), markdown_escaped(conclusion(result)));
  if (result.baseline) text += comparison_markdown(report_of(*result.baseline, result.candidate));
  if (result.baseline && is_worse_than_baseline(result)) {
    text += "\nAgainst the anchor:\n\n" + comparison_markdown(report_of(*result.anchor, result.candidate));
  } else if (result.anchor) {
    text += fmt::format("\nAnchor: {}.\n", markdown_escaped(anchor_line(*result.anchor)));
  }
  if (result.confirmation) text += "\nSide by side:\n\n" + paired_markdown(*result.confirmation);
  return text;
}

}  // namespace

const Judgement* deciding_judgement(const CheckResult& result) {
  if (!result.baseline || !result.remark.empty()) return nullptr;
  return is_worse_than_baseline(result) ? &*result.anchor : &*result.baseline;
}

std::optional<Verdict> verdict_of(const CheckResult& result) {
  if (result.confirmation) return result.confirmation->verdict;
  const Judgement* deciding = deciding_judgement(result);
  return deciding ? std::optional(deciding->comparison.verdict) : std::nullopt;
}

std::string check_text(const CheckResult& result) {
  std::string text;
  if (result.baseline && result.remark.empty()) {
    text += comparison_text(report_of(*result.baseline, result.candidate));
  }
  if (result.anchor && result.remark.empty()) {
    text += is_worse_than_baseline(result)
                ? "\nagainst the anchor\n" + comparison_text(report_of(*result.anchor, result.candidate))
                : hanging("anchor   ", printable(anchor_line(*result.anchor)));
  }
  if (result.confirmation) text += "\nside by side\n" + paired_text(*result.confirmation);
  return text + hanging("check    ", printable(fmt::format("{}: {}", result.name, conclusion(result))));
}

std::string check_markdown(const std::vector<CheckResult>& results) {
  std::string text;
  for (const CheckResult& result : results) text += (text.empty() ? "" : "\n") + result_markdown(result);
  return text;
}

std::string check_json(const std::vector<CheckResult>& results, ExitCode code) {
  json checks = json::array();
  std::optional<Verdict> worst;
  for (const CheckResult& result : results) {
    checks.push_back(result_json(result));
    const auto verdict = verdict_of(result);
    if (verdict && (!worst || badness(*verdict) > badness(*worst))) worst = verdict;
  }
  const json whole = {{"schema", "flopmark.check/1"},
                      {"verdict", worst ? json(to_text(*worst)) : json(nullptr)},
                      {"exit_code", static_cast<int>(code)},
                      {"checks", checks}};
  return whole.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace flopmark
