#include "train/rank_agreement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace flopmark {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

RunConfig tiny_config(const std::vector<std::string>& more = {}) {
  std::vector<std::string> sets{"data.type=synthetic", "parallel.ranks=2"};
  sets.insert(sets.end(), more.begin(), more.end());
  return load_config(FLOPMARK_SOURCE_DIR "/configs/llama-tiny-cpu.json", sets);
}

RankFacts facts() {
  RankFacts facts{
      .device_kind = "cpu", .libtorch = "2.15.0", .data = {}, .parameters = 100, .shapes_hash = "ab"};
  facts.data.path = "/here/data.bin";
  facts.data.samples = 10;
  return facts;
}

TEST(RankAgreement, EqualFactsDoNotDiffer) {
  const auto one = facts_to_json(facts(), tiny_config());
  EXPECT_EQ(difference_of({one, one, one}, {"a", "a", "b"}), "");
}

TEST(RankAgreement, WhatIsARanksOwnMayDiffer) {
  RankFacts other = facts();
  other.data.path = "/there/data.bin";
  RunConfig config = tiny_config();
  config.device = "cuda:1";
  config.data.path = "/there/data.bin";
  EXPECT_EQ(difference_of({facts_to_json(facts(), tiny_config()), facts_to_json(other, config)}, {"a", "b"}),
            "");
}

TEST(RankAgreement, DifferencesAreListedWithRanksAndHosts) {
  RankFacts other = facts();
  other.data.samples = 6;
  other.libtorch = "2.11.0";
  const auto usual = facts_to_json(facts(), tiny_config());
  const auto odd = facts_to_json(other, tiny_config({"train.optimizer.lr=0.5"}));
  const std::string text = difference_of({usual, odd, usual}, {"a", "b", "a"});
  EXPECT_THAT(text, HasSubstr("\n  data: samples: 10 on ranks 0, 2 (host a); 6 on rank 1 (host b)"));
  EXPECT_THAT(text, AllOf(HasSubstr("LibTorch: \"2.15.0\""), HasSubstr("train.optimizer.lr: "),
                          HasSubstr("0.5 on rank 1")));
  EXPECT_THAT(text, Not(HasSubstr("parameters")));
}

TEST(RankAgreement, AKeyOfSomeRanksOnlyIsSaid) {
  auto odd = facts_to_json(facts(), tiny_config());
  odd["train.new"] = true;
  EXPECT_EQ(difference_of({facts_to_json(facts(), tiny_config()), odd}, {"a", "b"}),
            "\n  train.new: not there on rank 0 (host a); true on rank 1 (host b)");
}

TEST(RankAgreement, TwoRanksOnOneGpuAreNamed) {
  EXPECT_EQ(shared_gpu({"u", "v", "u"}, {"a", "a", "b"}), "") << "hosts may show equal numbers";
  EXPECT_EQ(shared_gpu({"", ""}, {"a", "a"}), "") << "not known";
  EXPECT_EQ(shared_gpu({"u", "v", "v"}, {"a", "b", "b"}), "ranks 1, 2 (host b) have the same GPU, v");
}

TEST(RankAgreement, LongListsEndInTime) {
  nlohmann::json one = nlohmann::json::object(), other = one;
  for (int i = 0; i < 50; ++i) {
    one["key" + std::to_string(i)] = 1;
    other["key" + std::to_string(i)] = 2;
  }
  EXPECT_THAT(difference_of({one, other}, {"a", "b"}), HasSubstr("\n  and 30 more"));
}

}  // namespace
}  // namespace flopmark
