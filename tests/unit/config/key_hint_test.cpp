#include "config/key_hint.h"

#include <gtest/gtest.h>

#include "config/key_table.h"

namespace flopmark {
namespace {

using Names = std::vector<std::string>;

TEST(KeyHint, EditDistanceCountsSwapsAsOne) {
  EXPECT_EQ(edit_distance("", ""), 0U);
  EXPECT_EQ(edit_distance("", "abc"), 3U);
  EXPECT_EQ(edit_distance("abc", "abc"), 0U);
  EXPECT_EQ(edit_distance("batch_szie", "batch_size"), 1U);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
  EXPECT_EQ(edit_distance("ca", "abc"), 3U);  // optimal string alignment, not unrestricted (2)
}

TEST(KeyHint, MisspeltInItsPlace) {
  EXPECT_EQ(nearest_keys("data", "batch_szie"), Names{"data.batch_size"});
  EXPECT_EQ(nearest_keys("model", "hiden"), Names{"model.hidden_size"});
  EXPECT_EQ(nearest_keys("model", "hidden"), Names{"model.hidden_size"});
  EXPECT_EQ(nearest_keys("train", "Precision"), Names{"train.precision"});
  EXPECT_EQ(nearest_keys("", "maesure"), Names{"measure"});
  EXPECT_EQ(nearest_keys("", "extend"), Names{"extends"});
  EXPECT_EQ(nearest_keys("train", "optimiser"), Names{"train.optimizer"});
}

TEST(KeyHint, AnotherLevel) {
  EXPECT_EQ(nearest_keys("", "learning_rate"), Names{"train.optimizer.lr"});
  EXPECT_EQ(nearest_keys("train", "lr"), Names{"train.optimizer.lr"});
  EXPECT_EQ(nearest_keys("", "optimizer"), Names{"train.optimizer"});
  EXPECT_EQ(nearest_keys("train.optimizer", "precision"), Names{"train.precision"});
  EXPECT_EQ(nearest_keys("", "seed"), (Names{"data.seed", "train.seed"}));
}

TEST(KeyHint, SameSectionWinsOverTheSameNameElsewhere) {
  EXPECT_EQ(nearest_keys("train", "sead"), Names{"train.seed"});
  EXPECT_EQ(nearest_keys("data", "sead"), Names{"data.seed"});
}

TEST(KeyHint, NamesOfOtherTools) {
  EXPECT_EQ(nearest_keys("model", "n_embd"), Names{"model.hidden_size"});
  EXPECT_EQ(nearest_keys("train", "dtype"), Names{"train.precision"});
  EXPECT_EQ(nearest_keys("train.optimizer", "betas"),
            (Names{"train.optimizer.beta1", "train.optimizer.beta2"}));
}

TEST(KeyHint, NothingNear) {
  EXPECT_EQ(nearest_keys("", "paralellism"), Names{});
  EXPECT_EQ(nearest_keys("", "x"), Names{});
  EXPECT_EQ(nearest_keys("", ""), Names{});
  EXPECT_EQ(nearest_keys("data", std::string(100000, 'a')), Names{});
  EXPECT_EQ(
      unknown_key_advice("", "paralellism"),
      "known at the top level: extends, $schema, model, data, train, measure, parallel, peak, name, device");
  EXPECT_EQ(unknown_key_advice("peak", "paralellism"), "known in peak: flop_per_s");
}

TEST(KeyHint, DottedNameInAFile) {
  EXPECT_EQ(unknown_key_advice("", "model.layers"),
            "write model.layers as nested objects (dots are for --set only)");
  EXPECT_EQ(unknown_key_advice("train", "optimizer.lr"),
            "write train.optimizer.lr as nested objects (dots are for --set only)");
}

TEST(KeyHint, EveryKeyIsFoundWithTwoLettersSwapped) {
  for (const KeyRow& row : config_keys()) {
    std::string name = leaf_of(row.path);
    if (name.size() < 4) continue;
    std::swap(name[1], name[2]);
    const Names nearest = nearest_keys(parent_of(row.path), name);
    EXPECT_EQ(nearest, Names{row.path}) << name;
  }
}

}  // namespace
}  // namespace flopmark
