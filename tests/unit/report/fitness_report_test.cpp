#include "report/fitness_report.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "fakes/golden.h"

namespace flopmark {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

std::vector<FitnessCheck> checks() {
  return {{"governor", Fitness::ok, "performance", ""},
          {"turbo", Fitness::warn, "on: the clock depends on heat and on how many cores work",
           "echo 0 | sudo tee /x"},
          {"load", Fitness::bad, "other processes use 40 % of the CPUs" + std::string(90, '!'), "top"}};
}

TEST(FitnessText, HasALineForEachCheckAndItsCommand) {
  const std::string text = fitness_text(checks());
  EXPECT_THAT(text, HasSubstr("ok    governor       performance\n"));
  EXPECT_THAT(text,
              HasSubstr("warn  turbo          on: the clock depends on heat and on how many cores work\n"
                        "                     $ echo 0 | sudo tee /x\n"));
  EXPECT_THAT(text, EndsWith("\nnot fit to measure on: 1 fault, 1 warning\n"));
  EXPECT_LE(testing::widest_line(text), 100u);
}

TEST(FitnessText, SaysWhatItComesTo) {
  EXPECT_THAT(fitness_text({checks()[0], checks()[1]}), EndsWith("\nfit to measure on, with 1 warning\n"));
  EXPECT_THAT(fitness_text({checks()[0]}), EndsWith("\nfit to measure on\n"));
}

TEST(FitnessText, IsSafeForATerminal) {
  const std::string text = fitness_text({{"worker", Fitness::bad, "a\x1b[31m", "b\x1b]0;x\x07"}});
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_EQ(text.find('\x07'), std::string::npos);
}

TEST(FitnessJson, HasEachCheck) {
  const auto json = nlohmann::json::parse(fitness_json(checks()));
  EXPECT_EQ(json["schema"], "flopmark.doctor/1");
  EXPECT_EQ(json["fit"], false);
  EXPECT_EQ(json["checks"][1]["check"], "turbo");
  EXPECT_EQ(json["checks"][1]["fitness"], "warn");
  EXPECT_EQ(json["checks"][1]["command"], "echo 0 | sudo tee /x");
  EXPECT_TRUE(json["checks"][0]["command"].is_null());
  EXPECT_EQ(nlohmann::json::parse(fitness_json({checks()[1]}))["fit"], true);
}

}  // namespace
}  // namespace flopmark
