#include <gtest/gtest.h>

#include <limits>

#include "fakes/example_record.h"
#include "results/record_file.h"

namespace flopmark {
namespace {

using nlohmann::json;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

TEST(RecordWriter, HasTheKeysOtherToolsRead) {
  const json record = to_json(example_record());
  EXPECT_EQ(record["schema"], "flopmark.record/1");
  EXPECT_EQ(record["status"], "ok");
  EXPECT_EQ(record["warnings"][0]["code"], "few_steps");
  EXPECT_EQ(record["subject"]["dirty"], false);
  EXPECT_EQ(record["environment"]["device_count"], 8);
  EXPECT_TRUE(record["environment"].at("nccl").is_null());
  EXPECT_EQ(record["flops"]["model_flop"], 44826624);
  EXPECT_EQ(record["flops"]["hardware_flop"], 45350912);
  EXPECT_EQ(record["flops"]["by_operator"][0]["operator"], "aten::mm");
  EXPECT_EQ(record["peak"]["flop_per_s"], 989.4e12);
  EXPECT_EQ(record["metrics"]["step_s"]["ci95_high"], 0.253);
  EXPECT_EQ(record["metrics"]["mfu_ratio"], 0.424499);
  EXPECT_TRUE(record["metrics"].at("communication_ratio").is_null());
  EXPECT_EQ(record["phases"]["backward_s"], 0.14);
  EXPECT_EQ(record["ruler"]["matmul_flop"], 137438953472);
  EXPECT_EQ(record["ruler"]["matmul_s"][0], 0.0026);
  EXPECT_EQ(record["ruler"]["copy_bytes"], 134217728);
  EXPECT_EQ(record["ruler"]["copy_s"].size(), 2U);
  EXPECT_EQ(record["warmup"]["steps"], 14);
  EXPECT_TRUE(record.at("failure").is_null());
  EXPECT_TRUE(record.at("forced").is_null());
  EXPECT_EQ(record["repeats"][1]["loss_last"], 5.125);
  EXPECT_EQ(record["repeats"][0]["step_s"].size(), 4U);
}

TEST(RecordWriter, NonFiniteNumbersBecomeNull) {
  RunRecord record = example_record();
  record.metrics.values["mfu_ratio"] = kNaN;
  record.metrics.step_s->ci95_low = -std::numeric_limits<double>::infinity();
  record.repeats[0].loss_last = kNaN;
  record.config["train"]["optimizer"]["lr"] = std::numeric_limits<double>::infinity();
  const json object = to_json(record);
  EXPECT_TRUE(object["metrics"]["mfu_ratio"].is_null());
  EXPECT_TRUE(object["metrics"]["step_s"]["ci95_low"].is_null());
  EXPECT_TRUE(object["repeats"][0]["loss_last"].is_null());
  EXPECT_TRUE(object["config"]["train"]["optimizer"]["lr"].is_null());
  const RunRecord back = record_from_json(object, "x");
  EXPECT_EQ(back.metrics.values.at("mfu_ratio"), std::nullopt);
  EXPECT_EQ(back.metrics.step_s->ci95_low, std::nullopt);
  EXPECT_EQ(back.repeats[0].loss_last, std::nullopt);
}

}  // namespace
}  // namespace flopmark
