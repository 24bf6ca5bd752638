#include "cli/completion.h"

#include "unit/cli/cli_fixture.h"

namespace flopmark {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class BashCompletionTest : public CliTest {
 protected:
  /// What bash offers once `words` are typed and the last is being completed.
  std::vector<std::string> bash(const std::vector<std::string>& words) const {
    std::string line = "COMP_WORDS=(flopmark";
    for (const std::string& word : words) line += " '" + word + "'";
    const std::string script = "source '" + (work_ / "completion.bash").string() + "'; " + line +
                               "); COMP_CWORD=" + std::to_string(words.size()) +
                               "; _flopmark; ((${#COMPREPLY[@]} == 0)) || printf '%s\\n' \"${COMPREPLY[@]}\"";
    const auto result = testing::run_program("bash", options({"--norc", "-c", script}));
    EXPECT_EQ(result.err, "");
    std::istringstream lines(result.out);
    std::vector<std::string> offers;
    for (std::string offer; std::getline(lines, offer);) offers.push_back(offer);
    return offers;
  }
  void write_script() const {
    const auto result = flopmark({"completion", "bash"});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    write("completion.bash", result.out);
  }
};

TEST_F(BashCompletionTest, BashParsesTheScript) {
  write_script();
  const auto result = testing::run_program("bash", options({"-n", "completion.bash"}));
  EXPECT_EQ(result.exit_code, 0) << result.err;
}

TEST_F(BashCompletionTest, BashOffersCommandsOptionsValuesAndFiles) {
  write_script();
  EXPECT_THAT(bash({""}), ElementsAre("run", "check", "compare", "ab", "calibrate", "bisect", "baseline",
                                      "flops", "mfu", "peak", "data", "list", "env", "doctor", "completion"));
  EXPECT_THAT(bash({"ba"}), ElementsAre("baseline"));
  EXPECT_THAT(bash({"baseline", "s"}), ElementsAre("save", "show"));
  EXPECT_THAT(bash({"run", "--qu"}), ElementsAre("--quiet"));
  EXPECT_THAT(bash({"run", "tiny.json", "--s"}),
              ElementsAre("--set", "--store", "--save-baseline", "--scaling"));
  EXPECT_THAT(bash({"run", "--help-config", "--format", ""}), ElementsAre("text", "schema"));
  EXPECT_THAT(bash({"run", "t"}), ElementsAre("tiny.json"));
  EXPECT_THAT(bash({"run", "--output", "t"}), ElementsAre("tiny.json"));
  EXPECT_THAT(bash({"baseline", "save", "--r"}), ElementsAre("--role", "--reason"));
  EXPECT_THAT(bash({"baseline", "save", "--role", ""}), ElementsAre("rolling", "anchor"));
  EXPECT_THAT(bash({"check", "tiny.json", "--no-baseline", ""}), ElementsAre("fail", "save", "pass"));
  EXPECT_THAT(bash({"mfu", "--checkpointing", ""}), ElementsAre("none", "full", "selective"));
  EXPECT_THAT(bash({"mfu", "--from", "t"}), ElementsAre("tiny.json"));
  EXPECT_THAT(bash({"completion", ""}), ElementsAre("bash", "zsh"));
  EXPECT_THAT(bash({"bisect", "tiny.json", "--b"}),
              ElementsAre("--bad", "--build", "--budget", "--build-timeout"));
  EXPECT_THAT(bash({"--v"}), ElementsAre("--version"));
}

TEST_F(BashCompletionTest, BashOffersKeysAndTheirValues) {
  write_script();
  EXPECT_THAT(bash({"run", "--set", "train.optimizer.b"}),
              ElementsAre("train.optimizer.beta1=", "train.optimizer.beta2="));
  // Bash gives "=" as a word of its own, and where the cursor stands right behind it as the current word.
  EXPECT_THAT(bash({"run", "--set", "train.precision", "=", "b"}), ElementsAre("bf16-mixed", "bf16"));
  EXPECT_THAT(bash({"run", "--set", "data.shuffle", "="}), ElementsAre("true", "false"));
  EXPECT_THAT(bash({"run", "--set", "data.seed", "="}), IsEmpty());
  EXPECT_THAT(bash({"run", "--set", "train.precision=t"}), ElementsAre("train.precision=tf32"));
  EXPECT_THAT(bash({"list", "--format", "=", "t"}), ElementsAre("text"));
  EXPECT_THAT(bash({"run", "--output", "=", "t"}), ElementsAre("tiny.json"));
}

TEST_F(BashCompletionTest, BashOffersTheBaselinesOnFile) {
  write_script();
  EXPECT_THAT(bash({"baseline", "show", "x"}), IsEmpty());
  write("baselines/1x-cpu/xa.json", "{}");
  write("baselines/8x-gpu/xb.json", "{}");
  write("other/baselines/2x-gpu/xc.json", "{}");
  EXPECT_THAT(bash({"baseline", "show", "x"}), ElementsAre("xa", "xb"));
  EXPECT_THAT(bash({"baseline", "show", "8"}), ElementsAre("8x-gpu/xb"));
  EXPECT_THAT(bash({"baseline", "show", "t"}), ElementsAre("tiny.json"));
  EXPECT_THAT(bash({"baseline", "show", "--store", "other", "x"}), ElementsAre("xc"));
}

TEST_F(BashCompletionTest, BashKeepsFileNamesWithBlanksWhole) {
  write_script();
  write("my config.json", config());
  EXPECT_THAT(bash({"run", "my"}), ElementsAre("my config.json"));
}

}  // namespace
}  // namespace flopmark
