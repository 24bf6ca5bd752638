#include "launch/control_line.h"

#include <charconv>

namespace flopmark {
namespace {

constexpr std::string_view kTurn = "turn ";

}  // namespace

std::string format_control_line(const ControlLine& line) {
  switch (line.kind) {
    case ControlLine::Kind::stop:
      return "stop\n";
    case ControlLine::Kind::warmup:
      return "warmup\n";
    case ControlLine::Kind::turn:
      return std::string(kTurn) + std::to_string(line.steps) + "\n";
    case ControlLine::Kind::end:
      return "end\n";
  }
  return "";
}

std::optional<ControlLine> parse_control_line(std::string_view line) {
  using Kind = ControlLine::Kind;
  if (line == "stop") return ControlLine{Kind::stop};
  if (line == "warmup") return ControlLine{Kind::warmup};
  if (line == "end") return ControlLine{Kind::end};
  if (!line.starts_with(kTurn)) return std::nullopt;
  line.remove_prefix(kTurn.size());
  ControlLine turn{Kind::turn};
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), turn.steps);
  const bool whole = error == std::errc() && end == line.data() + line.size();
  return whole && turn.steps >= 1 && turn.steps <= kMostTurnSteps ? std::optional(turn) : std::nullopt;
}

}  // namespace flopmark
