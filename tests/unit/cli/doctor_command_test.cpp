#include "unit/cli/cli_fixture.h"

namespace flopmark {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;

/// The machine that runs the tests may be fit or not: both are answers.
class DoctorCommandTest : public CliTest {
 protected:
  nlohmann::json checks(const std::vector<std::string>& more, int* exit_code = nullptr) const {
    std::vector<std::string> arguments{"doctor", "--format", "json", "--quiet"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const auto result = flopmark(arguments);
    EXPECT_THAT(result.exit_code, AnyOf(0, 203)) << result.err;
    const auto report = nlohmann::json::parse(result.out);
    EXPECT_EQ(report.at("fit"), result.exit_code == 0);
    if (exit_code) *exit_code = result.exit_code;
    return report.at("checks");
  }
  static nlohmann::json find(const nlohmann::json& checks, const std::string& key) {
    for (const auto& check : checks) {
      if (check.at("check") == key) return check;
    }
    return nullptr;
  }
};

TEST_F(DoctorCommandTest, LooksAtTheMachineAndTriesItsNoise) {
  const auto found = checks({"--seconds", "1"});
  for (const char* key : {"governor", "turbo", "load", "memory", "peak", "noise"})
    EXPECT_FALSE(find(found, key).is_null()) << key;
  EXPECT_EQ(find(found, "noise").at("fitness"), "ok") << "the fake worker's steps are all alike";
  EXPECT_THAT(find(found, "noise").at("found").get<std::string>(), HasSubstr("differ by 0.0 %"));
  EXPECT_TRUE(files("results").empty()) << "a trial is no result";
}

TEST_F(DoctorCommandTest, WithoutTheTrialThereIsNoNoise) {
  EXPECT_TRUE(find(checks({"--no-trial"}), "noise").is_null());
}

TEST_F(DoctorCommandTest, AFailedTrialIsBad) {
  const auto result = flopmark({"doctor", "--seconds", "1", "--quiet"}, "crash");
  EXPECT_EQ(result.exit_code, 203) << result.err;
  EXPECT_THAT(result.out, HasSubstr("bad   noise          the trial failed: crash"));
}

TEST_F(DoctorCommandTest, TheConfigGivesThreadsAndPeak) {
  const auto asked = checks({"tiny.json", "--no-trial", "--set", "measure.threads=4096"});
  EXPECT_EQ(find(asked, "threads").at("fitness"), "bad");
  EXPECT_THAT(find(asked, "threads").at("command").get<std::string>(), HasSubstr("--set measure.threads="));
  EXPECT_EQ(find(asked, "peak").at("fitness"), "warn");
  EXPECT_EQ(find(asked, "peak").at("command"), "flopmark peak --measure --threads 4096");
  const auto by_hand = checks({"tiny.json", "--no-trial", "--set", "peak.flop_per_s=1e12"});
  EXPECT_EQ(find(by_hand, "peak").at("fitness"), "ok");
}

TEST_F(DoctorCommandTest, WithoutAWorkerItIsUnfit) {
  testing::ProgramOptions without = options({"doctor"});
  without.environment["FLOPMARK_WORKER"] = "/no/such/worker";
  const auto result = testing::run_program(FLOPMARK_PROGRAM, without);
  EXPECT_EQ(result.exit_code, 203);
  EXPECT_THAT(result.out, HasSubstr("bad   worker"));
}

TEST_F(DoctorCommandTest, WrongUseIsTold) {
  EXPECT_EQ(flopmark({"doctor", "missing.json"}).exit_code, 200);
  EXPECT_EQ(flopmark({"doctor", "--set", "measure.threads=1"}).exit_code, 200) << "without a config";
  EXPECT_EQ(flopmark({"doctor", "--no-trial", "--seconds", "5"}).exit_code, 200);
  EXPECT_EQ(flopmark({"doctor", "--format", "xml"}).exit_code, 200);
}

}  // namespace
}  // namespace flopmark
