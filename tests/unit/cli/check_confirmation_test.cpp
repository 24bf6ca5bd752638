#include "cli/check_confirmation.h"

#include "unit/cli/cli_fixture.h"

namespace flopmark {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

/// A repository whose "build" copies worker.sh, a worker with a step time of its own, and whose committed
/// baseline took 0.2 s a step. What check itself measures takes what the test says.
class CheckConfirmationTest : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    write(".gitignore", "/results/\n");
    git({"init", "-q", "-b", "main"});
    commit_worker("0.2");
    ASSERT_EQ(at_speed("0.2", {"run", "tiny.json", "--quiet", "--save-baseline"}).exit_code, 0);
    commit_all();
  }
  void commit_all() const {
    git({"add", "-A"});
    git({"commit", "-q", "-m", "more"});
  }
  void commit_worker(const std::string& step_s) const {
    write("worker.sh", "#!/bin/sh\nFAKE_STEP_S=" + step_s + " exec " FLOPMARK_FAKE_WORKER " \"$@\"\n");
    commit_all();
  }
  testing::ProgramResult at_speed(const std::string& step_s, std::vector<std::string> arguments) const {
    testing::ProgramOptions how = options(std::move(arguments));
    how.environment["FAKE_STEP_S"] = step_s;
    return testing::run_program(FLOPMARK_PROGRAM, how);
  }
  testing::ProgramResult confirm(const std::string& step_s, const std::vector<std::string>& more = {},
                                 const std::string& build = "cp worker.sh made; chmod +x made") const {
    std::vector<std::string> arguments{"check",   "tiny.json", "--quiet",    "--confirm",
                                       "--build", build,       "--artifact", "made"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return at_speed(step_s, arguments);
  }
};

TEST_F(CheckConfirmationTest, ALossThatIsThereIsConfirmed) {
  commit_worker("0.3");
  const auto result = confirm("0.3");
  EXPECT_EQ(result.exit_code, 1) << result.err;
  EXPECT_THAT(result.err, HasSubstr("tiny: slower by stored records; measuring both builds side by side"));
  EXPECT_THAT(result.out, AllOf(HasSubstr("\nside by side\n"), HasSubstr("B        the checked-out tree (")));
  EXPECT_THAT(result.out,
              EndsWith("check    tiny: slower by 12 pairs side by side; by stored records slower, "
                       "unconfirmed\n"));
}

/// The machine was slow, not the program.
TEST_F(CheckConfirmationTest, AFalseAlarmIsTakenBack) {
  for (const char* step_s : {"0.3", "0.23"}) {
    const auto result = confirm(step_s, {"--format", "json"});
    EXPECT_EQ(result.exit_code, 0) << step_s << result.err;
    const json document = json::parse(result.out);
    EXPECT_EQ(document["verdict"], "same");
    EXPECT_EQ(document["exit_code"], 0);
    const json& check = document["checks"][0];
    EXPECT_EQ(check["confirmation"]["verdict"], "same");
    EXPECT_THAT(check["baseline"]["verdict"].get<std::string>(), Not("same"));
  }
  EXPECT_THAT(confirm("0.3", {"--format", "markdown"}).out,
              AllOf(HasSubstr("### tiny: same by 12 pairs side by side"), HasSubstr("\nSide by side:\n")));
}

TEST_F(CheckConfirmationTest, TheSecondPassIsTheChecksOwn) {
  const auto result = confirm("0.3", {"--format", "json", "--set", "measure.loader=both"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(json::parse(result.out)["checks"][0]["confirmation"]["verdict"], "same");
}

TEST_F(CheckConfirmationTest, WhatIsSureIsNotMeasuredAgain) {
  commit_worker("0.4");
  const auto result = confirm("0.2", {"--format", "json"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(json::parse(result.out)["checks"][0]["confirmation"].is_null());
}

TEST_F(CheckConfirmationTest, ABuildThatFailsLeavesTheStoredVerdictAndSaysSo) {
  const auto result = confirm("0.3", {}, "echo no compiler; exit 1");
  EXPECT_EQ(result.exit_code, 125) << result.err;
  EXPECT_THAT(result.out, AllOf(HasSubstr("check    tiny: slower, unconfirmed: "), HasSubstr("no compiler")));
}

TEST_F(CheckConfirmationTest, ABudgetThatIsTooShortIsUndecided) {
  EXPECT_EQ(confirm("0.3", {"--budget", "0.01s"}).exit_code, 125);
  EXPECT_EQ(confirm("0.3", {"--budget", "0.01s", "--undecided", "pass"}).exit_code, 0);
}

TEST_F(CheckConfirmationTest, OptionsThatDoNotGoTogetherAreRefusedBeforeMeasuring) {
  const size_t records = files("results").size();
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases{
      {{"--confirm"}, "--confirm needs --build CMD"},
      {{"--build", "make"}, "have no use without --confirm"},
      {{"--budget", "1m"}, "have no use without --confirm"},
      {{"--confirm", "--build", "make", "--budget", "soon"}, "--budget soon: is no time above 0"},
      {{"--confirm", "--build", "make", "--artifact", "../x"}, "--artifact ../x: is relative to the top"}};
  for (const auto& [more, text] : cases) {
    std::vector<std::string> arguments{"check", "tiny.json", "--quiet"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const auto result = at_speed("0.3", arguments);
    EXPECT_EQ(result.exit_code, 200) << text << result.err;
    EXPECT_THAT(result.err, HasSubstr(text));
  }
  EXPECT_EQ(files("results").size(), records);
}

}  // namespace
}  // namespace flopmark
