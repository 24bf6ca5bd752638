#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "measure/samples.h"

namespace flopmark {
namespace {

FlopTotals example() {
  FlopTotals totals;
  totals.forward_flop = 14'942'208;
  totals.backward_flop = 29'884'416;
  totals.backward_hardware_flop = 30'408'704;
  totals.recompute_flop = 100;
  totals.optimizer_flop = 7;
  totals.attention_convention = "causal";
  totals.lower_bound = true;
  totals.by_operator = {{"aten::mm", 45, 44'000'000, 44'000'001}};
  totals.by_precision = {{"bf16", 44'000'000, 44'000'001}};
  totals.uncounted = {{"aten::cumsum", 2}};
  return totals;
}

TEST(FlopTotalsJson, HasExactlyTheKeysOfTheRecord) {
  const nlohmann::json json = to_json(example());
  std::vector<std::string> keys;
  for (const auto& [key, value] : json.items()) {
    keys.push_back(key);
  }
  EXPECT_THAT(keys, testing::UnorderedElementsAre("forward_flop", "backward_flop", "recompute_flop",
                                                  "backward_hardware_flop", "optimizer_flop", "model_flop",
                                                  "hardware_flop", "attention_convention", "lower_bound",
                                                  "by_operator", "by_precision", "uncounted"));
  EXPECT_EQ(json["model_flop"], 44'826'624);
  EXPECT_EQ(json["hardware_flop"], 45'351'012);  // 14942208 + 30408704 + 100
  EXPECT_EQ(json["by_operator"].dump(),
            R"([{"calls":45,"hardware_flop":44000001,"model_flop":44000000,"operator":"aten::mm"}])");
  EXPECT_EQ(json["uncounted"].dump(), R"([{"calls":2,"operator":"aten::cumsum"}])");
}

TEST(FlopTotalsJson, ReadsBackWhatItWrote) {
  const nlohmann::json json = to_json(example());
  const FlopTotals read = flop_totals_from_json(nlohmann::json::parse(json.dump()));
  EXPECT_EQ(read.forward_flop, 14'942'208);
  EXPECT_EQ(read.backward_flop, 29'884'416);
  EXPECT_EQ(read.backward_hardware_flop, 30'408'704);
  EXPECT_EQ(read.recompute_flop, 100);
  EXPECT_EQ(read.optimizer_flop, 7);
  EXPECT_EQ(read.attention_convention, "causal");
  EXPECT_TRUE(read.lower_bound);
  EXPECT_EQ(to_json(read), json);
}

TEST(FlopTotalsJson, ModulesAreWrittenWhereThereAreAny) {
  FlopTotals totals = example();
  totals.by_module = {{"layers.0.attention.wq", 1, 2, 3, 4}, {"", 5, 6, 7, 8}};
  const nlohmann::json json = to_json(totals);
  EXPECT_EQ(json["by_module"][0].dump(),
            R"({"backward_flop":2,"backward_hardware_flop":3,"forward_flop":1,"hardware_flop":8,)"
            R"("model_flop":3,"module":"layers.0.attention.wq","recompute_flop":4})");
  EXPECT_EQ(to_json(flop_totals_from_json(json)), json);
}

TEST(FlopTotalsJson, AFileOfAnOlderVersionHasNoNumberTypes) {
  nlohmann::json json = to_json(example());
  json.erase("by_precision");
  EXPECT_TRUE(flop_totals_from_json(json).by_precision.empty());
}

TEST(FlopTotalsJson, EmptyTablesAreListsNotNull) {
  const nlohmann::json json = to_json(FlopTotals());
  EXPECT_TRUE(json["by_operator"].is_array());
  EXPECT_TRUE(json["uncounted"].is_array());
  EXPECT_EQ(to_json(flop_totals_from_json(json)), json);
}

std::string refusal(const nlohmann::json& json) {
  try {
    flop_totals_from_json(json);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "nothing thrown";
}

TEST(FlopTotalsJson, RefusesSumsThatDoNotFitTheirParts) {
  nlohmann::json json = to_json(example());
  json["model_flop"] = 1;
  EXPECT_EQ(refusal(json), "key \"model_flop\" is 1, but forward and backward add up to 44826624");
  json = to_json(example());
  json["recompute_flop"] = 0;
  EXPECT_EQ(
      refusal(json),
      "key \"hardware_flop\" is 45351012, but forward, backward_hardware and recompute add up to 45350912");
}

TEST(FlopTotalsJson, RefusesMissingFractionalNegativeAndOverflowing) {
  nlohmann::json json = to_json(example());
  json.erase("optimizer_flop");
  EXPECT_EQ(refusal(json), "key \"optimizer_flop\" is missing");
  json["optimizer_flop"] = 0.5;
  EXPECT_EQ(refusal(json), "key \"optimizer_flop\" must be a whole number from 0 up, found 0.5");
  json["optimizer_flop"] = -1;
  EXPECT_EQ(refusal(json), "key \"optimizer_flop\" must be a whole number from 0 up, found -1");
  json["optimizer_flop"] = 0;
  json["forward_flop"] = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(refusal(json), "key \"backward_flop\": the sum of FLOPs is beyond 64 bits");
}

}  // namespace
}  // namespace flopmark
