#include "unit/cli/cli_fixture.h"

namespace flopmark {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class EnvCommandTest : public CliTest {};

TEST_F(EnvCommandTest, JsonIsWhatHostAndWorkerKnow) {
  const auto result = flopmark({"env", "--format", "json"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const auto environment = nlohmann::json::parse(result.out);
  EXPECT_EQ(environment.at("device_name"), "Fake CPU");
  EXPECT_EQ(environment.at("libtorch"), "2.15.0");
  EXPECT_EQ(environment.at("variables").at("FAKE_DEVICE"), "auto");
  EXPECT_GE(environment.at("cpu_logical"), 1);
  EXPECT_TRUE(environment.at("driver").is_null()) << "unknown is null";
  EXPECT_THAT(environment.at("os"), HasSubstr("Linux"));
}

TEST_F(EnvCommandTest, TextSaysWhatIsNotAvailable) {
  const auto result = flopmark({"env"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("device_name                 Fake CPU\n"));
  EXPECT_THAT(result.out, HasSubstr("driver                      not available\n"));
  EXPECT_THAT(result.out, Not(HasSubstr("\x1b"))) << "the fake worker's UUID holds one";
}

TEST_F(EnvCommandTest, TheWorkerIsAskedForTheNamedDevice) {
  const auto result = flopmark({"env", "--format", "json", "--device", "cuda:1"});
  EXPECT_EQ(nlohmann::json::parse(result.out).at("variables").at("FAKE_DEVICE"), "cuda:1");
  const auto wrong = flopmark({"env", "--device", "cuda:9"}, "exit3");
  EXPECT_EQ(wrong.exit_code, 200);
  EXPECT_THAT(wrong.err, HasSubstr("ended with exit code 3"));
}

TEST_F(EnvCommandTest, WithoutAWorkerTheHostIsShownAndTheFaultIsTold) {
  testing::ProgramOptions without = options({"env", "--format", "json"});
  without.environment["FLOPMARK_WORKER"] = "/no/such/worker";
  const auto result = testing::run_program(FLOPMARK_PROGRAM, without);
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.err, HasSubstr("without what the worker knows: "));
  EXPECT_TRUE(nlohmann::json::parse(result.out).at("libtorch").is_null());
}

TEST_F(EnvCommandTest, AVariableMayHoldAnyBytes) {
  testing::ProgramOptions odd = options({"env", "--format", "json"});
  odd.environment["OMP_ODD"] = "a\xff\x1b";
  const auto result = testing::run_program(FLOPMARK_PROGRAM, odd);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(nlohmann::json::parse(result.out).at("variables").at("OMP_ODD"), "a\xEF\xBF\xBD\x1b");
}

}  // namespace
}  // namespace flopmark
