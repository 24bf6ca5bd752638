#include "launch/control_line.h"

#include <gtest/gtest.h>

namespace flopmark {
namespace {

using Kind = ControlLine::Kind;

TEST(ControlLine, ReadsBackWhatItWrites) {
  const std::pair<ControlLine, std::string> lines[] = {{{Kind::stop}, "stop\n"},
                                                       {{Kind::warmup}, "warmup\n"},
                                                       {{Kind::turn, 7}, "turn 7\n"},
                                                       {{Kind::end}, "end\n"}};
  for (const auto& [line, text] : lines) {
    EXPECT_EQ(format_control_line(line), text);
    const auto read = parse_control_line(text.substr(0, text.size() - 1));
    ASSERT_TRUE(read) << text;
    EXPECT_EQ(read->kind, line.kind);
    EXPECT_EQ(read->steps, line.steps);
  }
}

TEST(ControlLine, RefusesEverythingElse) {
  for (const char* line : {"", "Stop", "stop ", "turn", "turn ", "turn 0", "turn -1", "turn 1 ", "turn +1",
                           "turn x", "turn 1000001", "turn 99999999999999999999", "end now"}) {
    EXPECT_FALSE(parse_control_line(line)) << line;
  }
  EXPECT_TRUE(parse_control_line("turn 1000000"));
}

}  // namespace
}  // namespace flopmark
