#include <fmt/format.h>

#include "report/bisect_parts.h"
#include "report/text_layout.h"
#include "report/units.h"

namespace flopmark {
std::string bisect_text(const BisectReport& report) {
  std::string text = format_facts(bisect_facts(report), TableStyle::text) + "\n" +
                     text_block(bisect_commit_grid(report)) + text_block(bisect_phase_grid(report)) +
                     text_block(bisect_operator_grid(report));
  for (const std::string& note : bisect_notes(report)) text += hanging("note      ", printable(note));
  for (const BisectReport::Command& command : report.commands) {
    text += fmt::format("{}:\n  {}\n", command.what, command.line);
  }
  return text + hanging(fmt::format("{}: ", to_text(report.result.outcome)), printable(report.result.reason));
}

}  // namespace flopmark
