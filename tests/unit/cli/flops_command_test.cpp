#include "unit/cli/cli_fixture.h"

namespace flopmark {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

using FlopsCommandTest = CliTest;

TEST_F(FlopsCommandTest, PrintsWhatTheWorkerCounted) {
  const auto result = flopmark({"flops", "tiny.json"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.err, "");
  EXPECT_THAT(result.out, HasSubstr("14,942,208"));
  EXPECT_THAT(result.out, HasSubstr("45,350,912"));
  EXPECT_THAT(files("results"), IsEmpty());
}

TEST_F(FlopsCommandTest, JsonIsTheFlopsObjectWithParameters) {
  const auto result = flopmark({"flops", "tiny.json", "--format", "json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto document = nlohmann::json::parse(result.out);
  EXPECT_EQ(document.at("model_flop"), 44'826'624);
  EXPECT_EQ(document.at("parameters"), 125'248);
  EXPECT_EQ(document.at("attention_kernel"), "fused");
}

TEST_F(FlopsCommandTest, MistakesAreOneMessageEach) {
  EXPECT_EQ(flopmark({"flops"}).exit_code, 200);
  EXPECT_EQ(flopmark({"flops", "tiny.json", "--attention", "flash"}).exit_code, 200);
  EXPECT_EQ(flopmark({"flops", "tiny.json", "--depth", "0"}).exit_code, 200);
  const auto missing = flopmark({"flops", "nosuch.json"});
  EXPECT_EQ(missing.exit_code, 200);
  EXPECT_THAT(missing.err, HasSubstr("nosuch.json"));
}

TEST_F(FlopsCommandTest, AWorkerThatFailsIsNoCount) {
  const auto result = flopmark({"flops", "tiny.json"}, "oom");
  EXPECT_EQ(result.exit_code, 125);
  EXPECT_THAT(result.err, HasSubstr("out of memory"));
  EXPECT_EQ(result.out, "");
}

}  // namespace
}  // namespace flopmark
