#include "config/strict_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config_files.h"

namespace flopmark {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string refused(const std::string& text) {
  return refusal([&] { parse_strict_json(text, "a.json"); });
}

TEST(StrictJson, AllowsCommentsAndKnowsLines) {
  const JsonDocument document =
      parse_strict_json("// head\n{ \"a\": 1, /* x\n y */ \"b\": { \"c\": 2.5 } }", "a.json");
  EXPECT_EQ(document.value, (nlohmann::json{{"a", 1}, {"b", {{"c", 2.5}}}}));
  EXPECT_EQ(document.lines.at("a"), 2U);
  EXPECT_EQ(document.lines.at("b.c"), 3U);
}

TEST(StrictJson, SyntaxErrorsSayLineAndColumn) {
  EXPECT_THAT(refused("{\n  \"a\": 1\n  \"b\": 2\n}"), StartsWith("a.json:3:5: not valid JSON: "));
  EXPECT_THAT(refused("x"), StartsWith("a.json:1:1: not valid JSON: "));
  EXPECT_THAT(refused("{\"a\": NaN}"), StartsWith("a.json:1:"));
  EXPECT_THAT(refused("{\"a\": 'x'}"), StartsWith("a.json:1:7: "));
  EXPECT_THAT(refused("{\"a\": \"x"), HasSubstr("missing closing quote"));
  EXPECT_THAT(refused("{\"a\": 1} /* open"), HasSubstr("comment"));
  EXPECT_THAT(refused("// only a comment"), HasSubstr("unexpected end of input"));
}

TEST(StrictJson, ComplaintsHaveNoPrefixOfTheLibrary) {
  try {
    ADD_FAILURE() << nlohmann::json::parse("{\n  x");
  } catch (const nlohmann::json::exception& error) {
    EXPECT_THAT(json_complaint(error), StartsWith("line 2, column 3: syntax error"));
  }
  try {
    ADD_FAILURE() << nlohmann::json("text").get<int>();
  } catch (const nlohmann::json::exception& error) {
    EXPECT_EQ(json_complaint(error), "type must be number, but is string");
  }
}

TEST(StrictJson, TrailingCommaIsNamed) {
  EXPECT_THAT(refused("{\"a\": 1,\n}"),
              testing::AllOf(StartsWith("a.json:2:1: "), HasSubstr("a comma before")));
  EXPECT_THAT(refused("[1, ]"), HasSubstr("a comma before a closing bracket is not allowed"));
  EXPECT_THAT(refused("{]"), testing::Not(HasSubstr("a comma before")));
}

TEST(StrictJson, TrailingTextIsRefused) {
  EXPECT_THAT(refused("{} {}"), HasSubstr("expected end of input"));
  EXPECT_THAT(refused("{}\nx"), StartsWith("a.json:2:1: "));
}

TEST(StrictJson, DuplicateKeysAreRefusedAtEveryLevel) {
  EXPECT_THAT(refused("{\"a\": 1,\n\"a\": 1}"),
              StartsWith("a.json:2:3: key \"a\" is given twice (first in line 1)"));
  EXPECT_THAT(refused("{\"a\": {\"b\": {\"c\": 1, \"c\": 2}}}"), HasSubstr("key \"a.b.c\" is given twice"));
  EXPECT_THAT(refused("[{\"c\": 1, \"c\": 2}]"), HasSubstr("is given twice"));
  EXPECT_NO_THROW(parse_strict_json("{\"a\": {\"x\": 1}, \"b\": {\"x\": 1}}", "a.json"));
  EXPECT_NO_THROW(parse_strict_json("[{\"x\": 1}, {\"x\": 1}]", "a.json"));
}

TEST(StrictJson, EmptyTextIsNamed) {
  EXPECT_EQ(refused(""), "a.json: is empty; the smallest config is {}");
  EXPECT_EQ(refused(" \n\t"), "a.json: is empty; the smallest config is {}");
}

TEST(StrictJson, NumbersBeyondADoubleAreRefused) {
  EXPECT_THAT(refused("{\"a\": 1e999}"), HasSubstr("number overflow"));
  EXPECT_EQ(parse_strict_json("99999999999999999999", "a.json").value, 1e20);
}

TEST(StrictJson, DepthIsBounded) {
  const auto nested = [](size_t levels) { return std::string(levels, '[') + std::string(levels, ']'); };
  EXPECT_NO_THROW(parse_strict_json(nested(16), "a.json"));
  EXPECT_THAT(refused(nested(17)), StartsWith("a.json:1:17: nested more than 16 levels deep"));
  EXPECT_THAT(refused(std::string(1000000, '[')), HasSubstr("nested more than 16"));
  std::string objects;
  for (int i = 0; i < 100000; ++i) objects += "{\"a\":";
  EXPECT_THAT(refused(objects), HasSubstr("nested more than 16"));
}

TEST(StrictJson, KeyLengthIsBounded) {
  EXPECT_NO_THROW(parse_strict_json("{\"" + std::string(128, 'k') + "\": 1}", "a.json"));
  EXPECT_THAT(refused("{\"" + std::string(129, 'k') + "\": 1}"),
              HasSubstr("is longer than any key there is"));
}

TEST(StrictJson, MessagesHoldPrintableAsciiOnly) {
  for (const std::string& text : {std::string("{\"a\x01\": 1}"),
                                  std::string("\x7f"
                                              "ELF\x02\x01\0\0",
                                              8),
                                  std::string("{\"\xff\xfe\": 1}"), std::string("\0\0\0", 3)}) {
    const std::string message = refused(text);
    EXPECT_THAT(message, HasSubstr("not valid JSON"));
    for (const char c : message) EXPECT_TRUE(c >= 0x20 && c < 0x7F) << message;
  }
}

}  // namespace
}  // namespace flopmark
