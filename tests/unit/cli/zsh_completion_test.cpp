#include "cli/completion.h"
#include "unit/cli/cli_fixture.h"

namespace flopmark {
namespace {

using ::testing::HasSubstr;

class ZshCompletionTest : public CliTest {};

TEST_F(ZshCompletionTest, NamesEveryCommandAndOption) {
  const std::string script = flopmark({"completion", "zsh"}).out;
  EXPECT_THAT(script, HasSubstr("#compdef flopmark\n"));
  EXPECT_THAT(script, HasSubstr("'*--set[Change a key of the config; may be repeated]:value: '"));
  EXPECT_THAT(script, HasSubstr("'*--format[Form of the list]:value:(text json)'"));
  EXPECT_THAT(script, HasSubstr("_flopmark_baseline_show() {"));
}

#ifdef FLOPMARK_ZSH
TEST_F(ZshCompletionTest, ZshParsesTheScript) {
  write("completion.zsh", flopmark({"completion", "zsh"}).out);
  const auto result = testing::run_program(FLOPMARK_ZSH, options({"-n", "completion.zsh"}));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.err, "");
}

TEST_F(ZshCompletionTest, SourcedItRegistersItselfWithAndWithoutCompinit) {
  write("completion.zsh", flopmark({"completion", "zsh"}).out);
  for (const std::string before : {"", "autoload -Uz compinit; compinit -i; "}) {
    const auto result = testing::run_program(
        FLOPMARK_ZSH, options({"-f", "-c", before + "source ./completion.zsh; print $_comps[flopmark]"}));
    EXPECT_EQ(result.out, "_flopmark\n") << before;
    EXPECT_EQ(result.err, "") << before;
  }
}
#endif

}  // namespace
}  // namespace flopmark
