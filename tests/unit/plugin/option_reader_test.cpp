#include "plugin/option_reader.h"

#include <gmock/gmock.h>

#include "unit/plugin/fake_plugins.h"

namespace flopmark {
namespace {

using ::testing::HasSubstr;

std::string refused(const std::string& object, void (*read)(const PluginOptions&)) {
  return test::refusal([&] { read(OptionReader(object, "model.options")); }, ExitCode::usage);
}

TEST(OptionReader, GivesValuesOrFallbacks) {
  const OptionReader reader(R"({"width": 8, "big": 1e3, "rate": 0.5, "whole": 2, "deep": true, "kind": "b",
                                "shape": [1, {"a": 2}]})",
                            "model.options");
  const PluginOptions& options = reader;
  EXPECT_EQ(options.integer("width", 1), 8);
  EXPECT_EQ(options.integer("big", 1), 1000);
  EXPECT_EQ(options.integer("none", 7), 7);
  EXPECT_EQ(options.number("rate", 0), 0.5);
  EXPECT_EQ(options.number("whole", 0), 2.0);
  EXPECT_EQ(options.number("none", 0.25), 0.25);
  EXPECT_TRUE(options.flag("deep", false));
  EXPECT_TRUE(options.flag("none", true));
  EXPECT_EQ(options.text("kind", "a", {"a", "b"}), "b");
  EXPECT_EQ(options.text("none", "a", {"a", "b"}), "a");
  EXPECT_EQ(options.json("shape"), R"([1,{"a":2}])");
  EXPECT_EQ(options.json("none"), "null");
  EXPECT_TRUE(options.has("width"));
  EXPECT_FALSE(options.has("none"));
  EXPECT_NO_THROW(reader.check_all_asked());
}

TEST(OptionReader, RefusesWithPlaceFoundAndExpected) {
  EXPECT_EQ(refused(R"({"width": 0})", [](const auto& o) { o.integer("width", 1, 1, 64); }),
            "model.options.width: found 0, expected a whole number from 1 to 64");
  EXPECT_EQ(refused(R"({"width": -1})", [](const auto& o) { o.integer("width", 1); }),
            "model.options.width: found -1, expected a whole number >= 0");
  EXPECT_EQ(refused(R"({"width": 2.5})", [](const auto& o) { o.integer("width", 1, 0, 9); }),
            "model.options.width: found 2.5, expected a whole number from 0 to 9");
  EXPECT_THAT(refused(R"({"width": 18446744073709551615})", [](const auto& o) { o.integer("width", 1); }),
              HasSubstr("found 18446744073709551615"));
  EXPECT_THAT(refused(R"({"width": 1e300})", [](const auto& o) { o.integer("width", 1); }),
              HasSubstr("found 1e+300"));
  EXPECT_EQ(refused(R"({"rate": "x"})", [](const auto& o) { o.number("rate", 0); }),
            "model.options.rate: found \"x\", expected a number");
  EXPECT_EQ(refused(R"({"rate": 2})", [](const auto& o) { o.number("rate", 0, 0, 1); }),
            "model.options.rate: found 2, expected a number from 0 to 1");
  EXPECT_EQ(refused(R"({"deep": 1})", [](const auto& o) { o.flag("deep", false); }),
            "model.options.deep: found 1, expected true or false");
  EXPECT_EQ(refused(R"({"kind": "c"})",
                    [](const auto& o) {
                      o.text("kind", "a", {"a", "b"});
                    }),
            "model.options.kind: found \"c\", expected one of a, b");
  EXPECT_EQ(refused(R"({"kind": [1]})", [](const auto& o) { o.text("kind", "a"); }),
            "model.options.kind: found an array, expected a text");
  EXPECT_EQ(refused(R"({"kind": null})", [](const auto& o) { o.flag("kind", true); }),
            "model.options.kind: found null, expected true or false");
}

TEST(OptionReader, WhatNobodyAskedForIsUnknown) {
  OptionReader reader(R"({"width": 8, "wdith": 9})", "data.options");
  reader.integer("width", 1, 0, 9);
  reader.flag("deep", false);
  EXPECT_EQ(test::refusal([&] { reader.check_all_asked(); }, ExitCode::usage),
            "data.options: unknown option \"wdith\"; known are deep, width");
  EXPECT_EQ(
      test::refusal([] { OptionReader(R"({"a": 1})", "data.options").check_all_asked(); }, ExitCode::usage),
      "data.options: unknown option \"a\"; it has no options");
  EXPECT_EQ(reader.json(""), R"({"wdith":9,"width":8})");  // whoever takes all answers for all
  EXPECT_NO_THROW(reader.check_all_asked());
}

}  // namespace
}  // namespace flopmark
