#include <gmock/gmock.h>

#include <cmath>

#include "fakes/example_record.h"
#include "flopmark/error.h"
#include "results/record_file.h"

namespace flopmark {
namespace {

using nlohmann::json;
using testing::HasSubstr;

std::string error_of(const json& object) {
  try {
    record_from_json(object, "base.json");
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::baseline);
    EXPECT_THAT(error.what(), HasSubstr("base.json: "));
    return error.what();
  }
  return "accepted";
}

/// Every field is written and read: no two values are alike enough to stand for one another.
TEST(RecordReader, RoundTripIsExact) {
  RunRecord record = example_record();
  record.forced_reason = "machine is being returned";
  record.failure = Failure{"out_of_memory", "timed", 7, "4 GiB asked"};
  record.subject.reason = "why";
  const json once = to_json(record);
  const RunRecord back = record_from_json(once, "x");
  EXPECT_EQ(to_json(back), once);
  EXPECT_EQ(back.forced_reason, "machine is being returned");
  EXPECT_EQ(back.failure->step, 7);
  EXPECT_EQ(back.metrics.step_s->mean, 0.2512345678);
  EXPECT_EQ(back.metrics.values, record.metrics.values);
  EXPECT_EQ(back.environment.variables, record.environment.variables);
  EXPECT_EQ(back.flops->uncounted[0].name, "aten::cumsum");
  EXPECT_EQ(back.phases->data_wait_host_s, 0.012);
  EXPECT_EQ(back.repeats[0].step_s, record.repeats[0].step_s);
  EXPECT_EQ(back.ruler->matmul_s, record.ruler->matmul_s);
}

/// A null where a number must be never turns into 0: what it belongs to is unknown.
TEST(RecordReader, NullMakesWhatHoldsItUnknown) {
  json object = to_json(example_record());
  object["metrics"]["step_s"]["median"] = nullptr;
  object["phases"].erase("forward_s");
  object["repeats"][0]["block_means_s"][1] = nullptr;
  object["repeats"][1]["wall_s"] = nullptr;
  const RunRecord back = record_from_json(object, "x");
  EXPECT_FALSE(back.metrics.step_s.has_value());
  EXPECT_FALSE(back.phases.has_value());
  EXPECT_TRUE(back.repeats[0].block_means_s.empty());
  EXPECT_TRUE(std::isnan(back.repeats[1].wall_s));
}

/// As records were before they held conditions and a full fingerprint.
TEST(RecordReader, OlderRecordsLackKeys) {
  json object = to_json(example_record());
  object.erase("conditions");
  object.erase("ruler");
  for (const char* key :
       {"device_uuid", "device_power_limit_w", "ecc", "turbo", "cgroup_cpus", "container"}) {
    object["environment"].erase(key);
  }
  const RunRecord back = record_from_json(object, "x");
  EXPECT_FALSE(back.conditions);
  EXPECT_FALSE(back.ruler);
  EXPECT_EQ(back.environment.device_name, "NVIDIA H200");
  EXPECT_EQ(back.environment.ecc, std::nullopt);
}

TEST(RecordReader, ConditionsAreReadAndAHoleInThemIsUnknown) {
  json object = to_json(example_record());
  EXPECT_EQ(record_from_json(object, "x").conditions->throttle_ratio->at("sw_power_cap"), 0.35);
  EXPECT_EQ(record_from_json(object, "x").conditions->device_clock_hz->min, 1.755e9);
  EXPECT_FALSE(record_from_json(object, "x").conditions->device_power_w);
  object["conditions"]["device_clock_hz"]["median"] = nullptr;
  EXPECT_FALSE(record_from_json(object, "x").conditions->device_clock_hz);
  EXPECT_EQ(record_from_json(object, "x").conditions->samples, 20);
  object["conditions"]["throttle_ratio"] = 0.35;
  EXPECT_THAT(error_of(object), HasSubstr("\"conditions.throttle_ratio\" must be an object"));
}

TEST(RecordReader, UnknownKeysAreLeftAside) {
  json object = to_json(example_record());
  object["calibration"] = {{"pairs", 20}};
  object["metrics"]["energy_j"] = 12.5;
  object["metrics"]["more"] = {{"a", "b"}};
  const RunRecord back = record_from_json(object, "x");
  EXPECT_EQ(back.metrics.values.at("energy_j"), 12.5);
  EXPECT_FALSE(back.metrics.values.contains("more"));
}

TEST(RecordReader, RefusesOtherSchemas) {
  json object = to_json(example_record());
  object["schema"] = "flopmark.record/2";
  EXPECT_THAT(error_of(object), HasSubstr("newer flopmark: its schema is \"flopmark.record/2\""));
  for (const char* schema :
       {"flopmark.record/0", "flopmark.record/", "flopmark.record/1x", "other.thing/1", ""}) {
    object["schema"] = schema;
    EXPECT_THAT(error_of(object), HasSubstr("not a flopmark record: its schema is")) << schema;
  }
  object["schema"] = 1;
  EXPECT_THAT(error_of(object), HasSubstr("its schema is 1"));
}

TEST(RecordReader, RefusesWhatIsNoRecord) {
  EXPECT_THAT(error_of(json::object()), HasSubstr("it has no \"schema\""));
  EXPECT_THAT(error_of(json::array()), HasSubstr("it has no \"schema\""));
  EXPECT_THAT(error_of(nullptr), HasSubstr("it has no \"schema\""));
  for (const char* key : {"name", "status", "config", "environment", "metrics", "repeats"}) {
    json object = to_json(example_record());
    object.erase(key);
    EXPECT_THAT(error_of(object), HasSubstr(std::string("it has no \"") + key + "\""));
  }
}

TEST(RecordReader, NamesTheValueOfTheWrongType) {
  const std::pair<const char*, json> faults[] = {{"/status", "done"},
                                                 {"/name", 7},
                                                 {"/metrics/step_s/mean", "1"},
                                                 {"/metrics/mfu_ratio", true},
                                                 {"/metrics", 3},
                                                 {"/environment/device_count", 1.5},
                                                 {"/repeats", "none"},
                                                 {"/repeats/1/steps", "4"},
                                                 {"/repeats/0/block_means_s/0", "x"},
                                                 {"/warmup/steady", 1},
                                                 {"/flops/model_flop", "many"},
                                                 {"/subject/dirty", "no"},
                                                 {"/config", json::array()},
                                                 {"/warnings/0", "text"},
                                                 {"/parameters", 18446744073709551615ULL}};
  for (const auto& [place, value] : faults) {
    json object = to_json(example_record());
    object[json::json_pointer(place)] = value;
    const std::string text = error_of(object);
    EXPECT_THAT(text, HasSubstr("not a usable record: \"")) << place;
  }
  json object = to_json(example_record());
  object["repeats"][1]["steps"] = "4";
  EXPECT_EQ(error_of(object),
            "base.json: not a usable record: \"repeats[1].steps\" must be a whole number, found \"4\"");
}

TEST(RecordReader, RefusesNamesThatAreNoFileNames) {
  for (const char* name : {"../evil", "a/b", ".hidden", "", "a b", "-x", "a\nb"}) {
    json object = to_json(example_record());
    object["name"] = name;
    EXPECT_THAT(error_of(object), HasSubstr("\"name\" must be")) << name;
  }
  EXPECT_TRUE(is_record_name(std::string(64, 'a')));
  EXPECT_FALSE(is_record_name(std::string(65, 'a')));
  EXPECT_TRUE(is_record_name("A.b_c-9"));
}

}  // namespace
}  // namespace flopmark
