#include "cli/commands.h"

#include <algorithm>

#include "fakes/golden.h"
#include "unit/cli/cli_fixture.h"

namespace flopmark {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

struct HelpCase {
  std::string golden;
  std::vector<std::string> arguments;
};

const std::vector<HelpCase>& help_cases() {
  static const std::vector<HelpCase> kCases{{"help", {"--help"}},
                                            {"run", {"run", "--help"}},
                                            {"check", {"check", "--help"}},
                                            {"baseline", {"baseline", "--help"}},
                                            {"baseline_save", {"baseline", "save", "--help"}},
                                            {"baseline_list", {"baseline", "list", "--help"}},
                                            {"baseline_show", {"baseline", "show", "--help"}},
                                            {"mfu", {"mfu", "--help"}},
                                            {"peak", {"peak", "--help"}},
                                            {"baseline_diff", {"baseline", "diff", "--help"}},
                                            {"compare", {"compare", "--help"}},
                                            {"ab", {"ab", "--help"}},
                                            {"calibrate", {"calibrate", "--help"}},
                                            {"bisect", {"bisect", "--help"}},
                                            {"data", {"data", "--help"}},
                                            {"data_inspect", {"data", "inspect", "--help"}},
                                            {"data_tokenize", {"data", "tokenize", "--help"}},
                                            {"list", {"list", "--help"}},
                                            {"env", {"env", "--help"}},
                                            {"doctor", {"doctor", "--help"}},
                                            {"completion", {"completion", "--help"}}};
  return kCases;
}

class CommandsTest : public CliTest {};

TEST_F(CommandsTest, HelpIsGoldenAndHasAnExample) {
  for (const HelpCase& help : help_cases()) {
    const auto result = flopmark(help.arguments);
    EXPECT_EQ(result.exit_code, 0) << help.golden;
    EXPECT_EQ(result.err, "") << help.golden;
    EXPECT_THAT(result.out, HasSubstr("Example")) << help.golden;
    EXPECT_LE(testing::widest_line(result.out), 100u) << help.golden;
    testing::expect_golden(result.out, "tests/unit/cli/golden/" + help.golden + ".txt");
  }
}

TEST_F(CommandsTest, VersionNamesTheWorkersLibTorch) {
  const auto result = flopmark({"--version"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.out, "flopmark " FLOPMARK_VERSION "\nworker: LibTorch 2.15.0\n");
}

TEST_F(CommandsTest, VersionWithoutAWorkerSaysSo) {
  testing::ProgramOptions without = options({"--version"});
  without.environment["FLOPMARK_WORKER"] = "/no/such/worker";
  const auto result = testing::run_program(FLOPMARK_PROGRAM, without);
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.out, StartsWith("flopmark " FLOPMARK_VERSION "\nworker not found: "));
  EXPECT_THAT(result.out, HasSubstr("/no/such/worker"));
}

TEST_F(CommandsTest, VersionOfAWorkerThatDoesNotAnswerSaysWhy) {
  const auto result = flopmark({"--version"}, "exit3");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.out, HasSubstr("\nworker unusable: "));
  EXPECT_THAT(result.out, HasSubstr("exit code 3"));
}

TEST_F(CommandsTest, WrongUseIs200WithOneMessage) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases{
      {{}, "no command given; see flopmark --help"},
      {{"baseline"}, "no command given; see flopmark baseline --help"},
      {{"rnu"},
       "unknown command \"rnu\"; the commands are run, check, compare, ab, calibrate, bisect, baseline, "
       "flops, mfu, peak, data, list, env, doctor, completion; see flopmark --help"},
      {{"--no-such"}, "--no-such"},
      {{"--version", "foo"}, "--version stands alone"},
      {{"run", "tiny.json", "--no-such"}, "--no-such"},
      {{"run"}, "no config given"},
      {{"run", "tiny.json", "--set"}, "--set"},
      {{"run", "--format", "schema"}, "--help-config"},
      {{"run", "--help-config", "--format", "xml"}, "xml"},
      {{"check"}, "CONFIG"},
      {{"check", "tiny.json", "--undecided", "maybe"}, "maybe"},
      {{"compare", "a.json"}, "B"},
      {{"compare", "a.json", "b.json", "--format", "xml"}, "xml"},
      {{"baseline", "save"}, "RECORD"},
      {{"baseline", "drop"}, "drop"},
      {{"completion", "fish"}, "fish"},
      {{"list", "--format", "xml"}, "xml"},
      {{"env", "--format", "xml"}, "xml"}};
  for (const auto& [arguments, text] : cases) {
    const auto result = flopmark(arguments);
    EXPECT_EQ(result.exit_code, 200) << text;
    EXPECT_EQ(result.out, "") << text;
    EXPECT_THAT(result.err, StartsWith("flopmark: error: ")) << text;
    EXPECT_THAT(result.err, HasSubstr(text));
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
  }
}

}  // namespace
}  // namespace flopmark
