#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "config/key_value.h"
#include "config/run_config.h"

namespace flopmark {
namespace {

using testing::HasSubstr;

TEST(ConfigHelp, SaysOfEveryKeyWhatItIs) {
  const std::string help = config_help();
  EXPECT_THAT(
      help, HasSubstr("\ntrain.optimizer.lr\n    Learning rate.\n    a number >= 0\n    default: 0.0003\n"));
  EXPECT_THAT(help, HasSubstr("\nmodel.kv_heads  (only for model.type llama, mixtral)\n"));
  EXPECT_THAT(help, HasSubstr("    default: from the preset\n"));
  EXPECT_THAT(help, HasSubstr("\n    a whole number from 0 to 9223372036854775807\n"));
  for (const KeyRow& row : config_keys()) {
    EXPECT_THAT(help, HasSubstr("\n" + row.path)) << row.path;
    EXPECT_THAT(help, HasSubstr("\n    " + row.doc + "\n    " + expected_text(row).substr(0, 40)))
        << row.path;
  }
}

TEST(ConfigHelp, FitsATerminal) {
  std::istringstream lines(config_help());
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100U) << line;
}

}  // namespace
}  // namespace flopmark
