#include "config/key_value.h"
#include "config/key_scope.h"

#include <gtest/gtest.h>

namespace flopmark {
namespace {

using nlohmann::json;

bool fits(const std::string& key, const json& value) {
  RunConfig config;
  return assign_value(*find_key(key), value, config);
}

TEST(KeyValue, WholeNumbers) {
  for (const char* good : {"1", "2147483647", "2.0", "1e3"})
    EXPECT_TRUE(fits("data.batch_size", json::parse(good)));
  for (const char* bad : {"0", "-1", "2.5", "2147483648", "9223372036854775808", "1e20", "1e308", "true",
                          "\"2\"", "null", "[2]", "{}"}) {
    EXPECT_FALSE(fits("data.batch_size", json::parse(bad))) << bad;
  }
  EXPECT_TRUE(fits("train.seed", json::parse("9223372036854775807")));
  EXPECT_FALSE(fits("train.seed", json::parse("9223372036854775808")));
  EXPECT_FALSE(fits("train.seed", json::parse("9007199254740994.0")));
  EXPECT_FALSE(fits("train.seed", json::parse("-1")));
}

TEST(KeyValue, Numbers) {
  for (const char* good : {"0", "1", "3e-4", "1e30"})
    EXPECT_TRUE(fits("train.optimizer.lr", json::parse(good)));
  for (const char* bad : {"-1e-9", "true", "\"1\"", "null"}) {
    EXPECT_FALSE(fits("train.optimizer.lr", json::parse(bad))) << bad;
  }
  EXPECT_FALSE(fits("train.optimizer.lr", std::numeric_limits<double>::infinity()));
  EXPECT_FALSE(fits("train.optimizer.lr", std::numeric_limits<double>::quiet_NaN()));
  EXPECT_TRUE(fits("model.dropout", 0.0));
  EXPECT_FALSE(fits("model.dropout", 1.0));
  EXPECT_FALSE(fits("train.optimizer.eps", 0));
  EXPECT_TRUE(fits("measure.warmup_max_s", 1e8));
  EXPECT_FALSE(fits("measure.warmup_max_s", 1.1e8));
}

TEST(KeyValue, NumberOrNull) {
  RunConfig config;
  EXPECT_TRUE(assign_value(*find_key("peak.flop_per_s"), 312000000000000, config));
  EXPECT_EQ(config.peak_flop_per_s, 312e12);
  EXPECT_FALSE(assign_value(*find_key("peak.flop_per_s"), 0, config));
  EXPECT_FALSE(assign_value(*find_key("peak.flop_per_s"), "312e12", config));
  EXPECT_EQ(config.peak_flop_per_s, 312e12);
  EXPECT_TRUE(assign_value(*find_key("peak.flop_per_s"), nullptr, config));
  EXPECT_EQ(config.peak_flop_per_s, std::nullopt);
}

TEST(KeyValue, TrueOrFalse) {
  EXPECT_TRUE(fits("data.shuffle", false));
  for (const json& bad : {json(0), json("true"), json(nullptr)}) EXPECT_FALSE(fits("data.shuffle", bad));
}

TEST(KeyValue, Strings) {
  EXPECT_TRUE(fits("train.precision", "bf16-mixed"));
  for (const json& bad : {json("fp16"), json("FP32"), json(""), json(32)})
    EXPECT_FALSE(fits("train.precision", bad));
  EXPECT_TRUE(fits("data.path", "a b/ü.bin"));
  EXPECT_FALSE(fits("data.path", ""));
  EXPECT_FALSE(fits("data.path", std::string("a\0b", 3)));
  EXPECT_FALSE(fits("data.path", "\xff"));
  EXPECT_FALSE(fits("data.path", std::string(4097, 'a')));
}

TEST(KeyValue, NameRule) {
  for (const std::string& good : {std::string("a"), std::string("7b.x_Y-z"), std::string(64, 'x')}) {
    EXPECT_TRUE(fits("name", good)) << good;
  }
  for (const std::string& bad :
       {std::string(65, 'x'), std::string(".a"), std::string("-a"), std::string("a/b"), std::string("a b"),
        std::string("a\n"), std::string("\xc3\xa4")}) {
    EXPECT_FALSE(fits("name", bad)) << bad;
  }
}

TEST(KeyValue, DeviceSyntax) {
  for (const char* good : {"auto", "cpu", "cuda", "cuda:0", "cuda:12"})
    EXPECT_TRUE(fits("device", good)) << good;
  for (const char* bad : {"gpu", "cuda:", "cuda:-1", "cuda:01", "cuda:x", "cuda:1 ", "CPU", "cpu:0"}) {
    EXPECT_FALSE(fits("device", bad)) << bad;
  }
}

TEST(KeyValue, AValueThatDoesNotFitChangesNothing) {
  RunConfig config;
  EXPECT_FALSE(assign_value(*find_key("data.batch_size"), -3, config));
  EXPECT_EQ(config.data.batch_size, 1);
  EXPECT_TRUE(assign_value(*find_key("data.batch_size"), 3, config));
  EXPECT_EQ(config.data.batch_size, 3);
  EXPECT_EQ(value_of(*find_key("data.batch_size"), config), 3);
}

TEST(KeyValue, CheckpointingIsAWordOrANumber) {
  const KeyRow& row = *find_key("train.activation_checkpointing");
  RunConfig config;
  const auto blocks = [&](const json& value) -> int64_t {
    return assign_value(row, value, config) ? config.train.activation_checkpointing.blocks : -1;
  };
  EXPECT_EQ(blocks("full"), 1);
  EXPECT_EQ(value_of(row, config), "full");
  EXPECT_EQ(blocks(3), 3);
  EXPECT_EQ(value_of(row, config), 3);
  EXPECT_EQ(blocks("none"), 0);
  EXPECT_EQ(value_of(row, config), "none");
  EXPECT_EQ(blocks(1), 1);
  for (const json& bad : {json("some"), json("3"), json(0), json(-1), json(1.5), json(true), json(nullptr)}) {
    EXPECT_EQ(blocks(bad), -1) << bad;
  }
  EXPECT_EQ(expected_text(row), "none, full or a whole number from 1 to 65536");
}

TEST(KeyValue, ExpectedInWords) {
  const auto expected = [](const char* key) { return expected_text(*find_key(key)); };
  EXPECT_EQ(expected("data.batch_size"), "a whole number from 1 to 2147483647");
  EXPECT_EQ(expected("train.seed"), "a whole number from 0 to 9223372036854775807");
  EXPECT_EQ(expected("train.optimizer.lr"), "a number >= 0");
  EXPECT_EQ(expected("model.dropout"), "a number >= 0 and < 1");
  EXPECT_EQ(expected("measure.timeout_s"), "a number > 0 and <= 100000000");
  EXPECT_EQ(expected("train.gradient_clip"), "a number > 0, or null");
  EXPECT_EQ(expected("data.shuffle"), "true or false");
  EXPECT_EQ(expected("train.optimizer.type"), "one of sgd, adamw");
  EXPECT_EQ(expected("device"), "auto, cpu, cuda or cuda:N (such as cuda:1)");
}

TEST(KeyValue, FoundIsShortAndOnOneLine) {
  EXPECT_EQ(found_text("ten"), "\"ten\"");
  EXPECT_EQ(found_text(2.5), "2.5");
  EXPECT_EQ(found_text(nullptr), "null");
  EXPECT_EQ(found_text({{"a", 1}}), "an object");
  EXPECT_EQ(found_text(json::array({1})), "an array");
  EXPECT_EQ(found_text("a\nb"), "\"a\\nb\"");
  EXPECT_EQ(found_text(std::string(500, 'a')).size(), 83U);
  std::string wide;
  for (int i = 0; i < 100; ++i) wide += "\xc3\xbc";
  EXPECT_TRUE(is_utf8(found_text("x" + wide)));
  EXPECT_TRUE(is_utf8(found_text(wide)));
  EXPECT_TRUE(is_utf8(quoted_text("\xff\x01")));
}

TEST(KeyValue, ScopeFollowsTheTypes) {
  RunConfig config;
  config.model.type = "mlp";
  const KeyRow& ffn = *find_key("model.ffn_size");
  EXPECT_FALSE(applies_to(ffn, config));
  EXPECT_EQ(scope_conflict(ffn, config),
            "does not apply to model.type \"mlp\", only to llama, gpt2, vit, bert, mixtral");
  EXPECT_EQ(scope_text(ffn), "only for model.type llama, gpt2, vit, bert, mixtral");
  EXPECT_EQ(scope_text(*find_key("train.optimizer.eps")), "only for train.optimizer.type adamw");
  EXPECT_EQ(scope_text(*find_key("name")), "");
  config.model.type = "gpt2";
  EXPECT_TRUE(applies_to(ffn, config));
}

}  // namespace
}  // namespace flopmark
