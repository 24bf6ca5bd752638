#include <fmt/format.h>

#include <algorithm>

#include "report/comparison_report.h"
#include "report/comparison_rows.h"
#include "report/confirm_line.h"
#include "report/text_layout.h"
#include "report/units.h"

namespace flopmark {
namespace {

constexpr size_t kColumnGap = 2;

/// `text` in `width` columns, left- or right-aligned.
std::string aligned(const std::string& text, size_t width, bool right) {
  const std::string blanks(width - std::min(width, display_width(text)), ' ');
  return right ? blanks + text : text + blanks;
}

size_t column_width(const std::vector<ComparisonRow>& rows, std::string ComparisonRow::*column) {
  size_t width = 0;
  for (const ComparisonRow& row : rows) width = std::max(width, display_width(row.*column));
  return width;
}

std::string rows_text(std::vector<ComparisonRow> rows) {
  rows.insert(rows.begin(), {"", "A", "B", "change", ""});
  const std::string gap(kColumnGap, ' ');
  const size_t label = column_width(rows, &ComparisonRow::label), a = column_width(rows, &ComparisonRow::a),
               b = column_width(rows, &ComparisonRow::b), change = column_width(rows, &ComparisonRow::change);
  std::string text;
  for (const ComparisonRow& row : rows) {
    const std::string left = aligned(row.label, label, false) + gap + aligned(row.a, a, true) + gap +
                             aligned(row.b, b, true) + gap + aligned(row.change, change, true);
    text += row.note.empty() ? left + "\n" : hanging(left + gap, row.note);
  }
  return text;
}

std::string side_text(const char* name, const FoundRecord& side) {
  return hanging(fmt::format("{}  ", name),
                 fmt::format("{} ({})", printable(side.source), record_origin(side.record)));
}

std::string differences_text(const StoredComparison& comparison) {
  if (comparison.environment_differences.empty()) return "";
  std::vector<TableRow> rows;
  for (const EnvironmentDifference& difference : comparison.environment_differences) {
    const bool refuses = difference.kind == DifferenceClass::not_comparable && !difference.allowed;
    rows.push_back({"  " + printable(difference.key), "",
                    fmt::format("{} -> {}{}", printable(difference.a), printable(difference.b),
                                refuses              ? " (not comparable)"
                                : difference.allowed ? " (allowed)"
                                                     : "")});
  }
  return "differences that matter or may matter\n" + format_table(rows) + "\n";
}

}  // namespace

std::string comparison_text(const ComparisonReport& report) {
  const StoredComparison& comparison = report.comparison;
  std::string text =
      side_text("A", report.a) + side_text("B", report.b) + "\n" + differences_text(comparison);
  if (!comparison.summaries.empty()) text += rows_text(comparison_rows(comparison)) + "\n";
  for (const std::string& note : comparison.notes) text += hanging("note     ", printable(note));
  if (comparison.unconfirmed) {
    text += "confirm  " + confirm_line(report.a.record, report.b.record) + "\n";  // whole, to be copied
  }
  return text + hanging(fmt::format("{}: ", to_text(comparison.verdict)), printable(comparison.reason));
}

}  // namespace flopmark
