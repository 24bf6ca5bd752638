#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/key_table.h"
#include "config/key_value.h"
#include "config/run_config.h"
#include "config_files.h"

namespace flopmark {
namespace {

using nlohmann::json;
using testing::HasSubstr;

TEST(ParallelConfig, DefaultsToOneRank) {
  const RunConfig config = load_text("{}");
  EXPECT_EQ(config.parallel.ranks, 1);
  EXPECT_EQ(config.parallel.backend, "auto");
  EXPECT_EQ(config.parallel.bucket_bytes, 25 * 1024 * 1024);
  EXPECT_EQ(config.parallel.timeout_s, 60);
  EXPECT_EQ(config.parallel.sharding, "none");
}

TEST(ParallelConfig, EveryKeyReachesItsPlaceAndTheWorker) {
  const RunConfig config = load_text(
      R"({"parallel": {"ranks": 4, "backend": "gloo", "bucket_bytes": 1000, "timeout_s": 2.5,
                      "sharding": "zero2"}})");
  for (const RunConfig& one : {config, config_from_resolved(to_json(config))}) {
    EXPECT_EQ(one.parallel.ranks, 4);
    EXPECT_EQ(one.parallel.backend, "gloo");
    EXPECT_EQ(one.parallel.bucket_bytes, 1000);
    EXPECT_EQ(one.parallel.timeout_s, 2.5);
    EXPECT_EQ(one.parallel.sharding, "zero2");
  }
}

/// Baselines and calibrations of configs from before there were ranks stay those of the same config.
TEST(ParallelConfig, IsLeftOutOfAConfigOfOneRank) {
  const RunConfig config = load_text(R"({"parallel": {"backend": "gloo", "sharding": "zero2"}})");
  EXPECT_FALSE(to_json(config).contains("parallel"));
  EXPECT_EQ(config_from_resolved(to_json(config)).parallel.ranks, 1);
  const json several = to_json(load_text("{}", {"parallel.ranks=2"}));
  EXPECT_EQ(several.at("parallel"), json::parse(R"({"ranks": 2, "backend": "auto", "bucket_bytes": 26214400,
                                                    "timeout_s": 60.0, "sharding": "none"})"));
}

TEST(ParallelConfig, RecordsHaveItOfOneRankToo) {
  const json whole = whole_json(load_text("{}"));
  EXPECT_EQ(whole.at("parallel"), json::parse(R"({"ranks": 1, "backend": "auto", "bucket_bytes": 26214400,
                                                  "timeout_s": 60.0, "sharding": "none"})"));
  EXPECT_EQ(to_json(config_from_resolved(whole)), to_json(load_text("{}")));
}

TEST(ParallelConfig, AResolvedConfigOfSeveralRanksMustHaveEveryKey) {
  const json whole = to_json(load_text("{}", {"parallel.ranks=2"}));
  for (const char* key : {"backend", "bucket_bytes", "timeout_s", "sharding"}) {
    json less = whole;
    less["parallel"].erase(key);
    EXPECT_THAT(refusal([&] { config_from_resolved(less); }, ExitCode::internal),
                HasSubstr(std::string("parallel.") + key + " is missing"));
  }
}

TEST(ParallelConfig, RefusesWhatNoJobCanBe) {
  for (const char* set :
       {"parallel.ranks=0", "parallel.ranks=-1", "parallel.ranks=1025", "parallel.ranks=1.5",
        "parallel.ranks=two", "parallel.backend=mpi", "parallel.bucket_bytes=0", "parallel.timeout_s=0",
        "parallel.timeout_s=-1", "parallel.sharding=zero3"}) {
    EXPECT_THAT(refused_text("{}", {set}), HasSubstr("parallel.")) << set;
  }
  EXPECT_THAT(refused_text("{}", {"parallel.ranks=0"}),
              HasSubstr("found 0, expected a whole number from 1 to 1024"));
}

TEST(ParallelConfig, RanksNeedADeviceEachAndABackendForIt) {
  EXPECT_THAT(refused_text("{\"device\": \"cuda:1\",\n\"parallel\": {\"ranks\": 2}}"),
              HasSubstr("run.json:1: device \"cuda:1\" is one GPU, but parallel.ranks is 2"));
  EXPECT_EQ(load_text(R"({"device": "cuda:1", "parallel": {"ranks": 1}})").device, "cuda:1");
  EXPECT_THAT(refused_text("{\"device\": \"cpu\",\n\"parallel\": {\"ranks\": 2, \"backend\": \"nccl\"}}"),
              HasSubstr("run.json:2: parallel.backend \"nccl\" joins GPUs, but device is \"cpu\""));
  EXPECT_EQ(load_text(R"({"device": "cpu", "parallel": {"ranks": 2, "backend": "gloo"}})").parallel.ranks, 2);
}

TEST(ParallelConfig, ShardedRanksCannotScaleTheirLosses) {
  const char* const refused = "parallel.sharding \"zero2\" does not go with train.precision \"fp16-mixed\"";
  EXPECT_THAT(
      refused_text("{\"parallel\": {\"sharding\": \"zero2\", \"ranks\": 2}}", {"train.precision=fp16-mixed"}),
      HasSubstr(refused));
  // A launcher says how many ranks there are.
  EXPECT_THAT(refused_text("{\"parallel\": {\"sharding\": \"zero2\"}}", {"train.precision=fp16-mixed"}),
              HasSubstr(refused));
  EXPECT_EQ(load_text(R"({"parallel": {"sharding": "zero2"}, "train": {"precision": "bf16-mixed"}})")
                .parallel.sharding,
            "zero2");
}

TEST(ParallelConfig, OtherToolsNamesLeadToTheKey) {
  EXPECT_THAT(refused_text("{}", {"parallel.world_size=2"}), HasSubstr("parallel.ranks"));
  EXPECT_THAT(refused_text("{}", {"parallel.zero_stage=2"}), HasSubstr("parallel.sharding"));
}

}  // namespace
}  // namespace flopmark
