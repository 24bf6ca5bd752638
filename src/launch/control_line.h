#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace flopmark {

/// What the front-end writes to a worker's standard input, a line each. "stop" may come at any time. The
/// others are for a worker called with --turns: it loads nothing before "warmup", answers with a ready line,
/// answers each "turn M" with a turn line after M timed steps, and counts, saves and ends at "end". In
/// between it is blocked, with its loader standing still.
struct ControlLine {
  enum class Kind { stop, warmup, turn, end };
  Kind kind = Kind::stop;
  int64_t steps = 0;  ///< of a turn, from 1 to kMostTurnSteps
};

inline constexpr int64_t kMostTurnSteps = 1'000'000;

/// With its newline.
std::string format_control_line(const ControlLine& line);
/// Reads one without its newline; absent if it is none.
std::optional<ControlLine> parse_control_line(std::string_view line);

}  // namespace flopmark
