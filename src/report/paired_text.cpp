#include <fmt/format.h>

#include "report/paired_parts.h"
#include "report/paired_report.h"
#include "report/text_layout.h"
#include "report/units.h"

namespace flopmark {
std::string paired_text(const PairedComparison& comparison) {
  std::string text = hanging("config   ", printable(comparison.result.name)) +
                     hanging("A        ", paired_side_text(comparison.a)) +
                     hanging("B        ", paired_side_text(comparison.b)) +
                     hanging("pairs    ", paired_extent_text(comparison));
  for (const EnvironmentDifference& difference : comparison.environment_differences) {
    text += hanging("differs  ", paired_difference_text(difference));
  }
  text += "\n";
  if (!comparison.result.pairs.empty()) {
    text += text_block(paired_summary_grid(comparison)) + text_block(paired_metric_grid(comparison)) +
            text_block(paired_phase_grid(comparison)) + text_block(paired_operator_grid(comparison));
  }
  for (const std::string& note : comparison.notes) text += hanging("note     ", printable(note));
  return text + hanging(fmt::format("{}: ", to_text(comparison.verdict)), printable(comparison.reason));
}

}  // namespace flopmark
