#include "measure/json_fields.h"

#include <gtest/gtest.h>

#include <functional>

namespace flopmark {
namespace {

std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "nothing thrown";
}

TEST(JsonFields, ReadWhatIsThere) {
  const nlohmann::json object = {{"n", 3},      {"x", 1.5},    {"b", true},
                                 {"t", "text"}, {"l", {1, 2}}, {"none", nullptr}};
  EXPECT_EQ(count_field(object, "n"), 3);
  EXPECT_EQ(number_field(object, "x"), 1.5);
  EXPECT_EQ(number_field(object, "n"), 3.0);
  EXPECT_TRUE(bool_field(object, "b"));
  EXPECT_EQ(text_field(object, "t"), "text");
  EXPECT_EQ(array_field(object, "l").size(), 2u);
  EXPECT_EQ(numbers_field(object, "l"), (std::vector<double>{1, 2}));
  EXPECT_EQ(optional_count_field(object, "n"), 3);
  EXPECT_EQ(optional_count_field(object, "none"), std::nullopt);
  EXPECT_EQ(optional_text_field(object, "missing"), std::nullopt);
}

TEST(JsonFields, RefusalsNameTheKeyAndWhatWasFound) {
  const nlohmann::json object = {
      {"half", 1.5}, {"minus", -1}, {"huge", 18446744073709551615u}, {"t", "text"}};
  EXPECT_EQ(message_of([&] { count_field(object, "half"); }),
            "key \"half\" must be a whole number from 0 up, found 1.5");
  EXPECT_EQ(message_of([&] { count_field(object, "minus"); }),
            "key \"minus\" must be a whole number from 0 up, found -1");
  EXPECT_EQ(message_of([&] { count_field(object, "huge"); }),
            "key \"huge\" must be a whole number from 0 up, found 18446744073709551615");
  EXPECT_EQ(message_of([&] { number_field(object, "t"); }), "key \"t\" must be a number, found \"text\"");
  EXPECT_EQ(message_of([&] { bool_field(object, "t"); }), "key \"t\" must be true or false, found \"text\"");
  EXPECT_EQ(message_of([&] { text_field(object, "half"); }), "key \"half\" must be a text, found 1.5");
  EXPECT_EQ(message_of([&] { array_field(object, "half"); }), "key \"half\" must be a list, found 1.5");
  EXPECT_EQ(message_of([&] { numbers_field(object, "half"); }), "key \"half\" must be a list, found 1.5");
  EXPECT_EQ(message_of([&] {
              numbers_field({{"l", {1, "x"}}}, "l");
            }),
            "key \"l\" must be a list of numbers");
  EXPECT_EQ(message_of([&] { optional_count_field(object, "half"); }),
            "key \"half\" must be a whole number from 0 up, found 1.5");
  EXPECT_EQ(message_of([&] { field(object, "gone"); }), "key \"gone\" is missing");
  EXPECT_EQ(message_of([&] { field(nlohmann::json::array(), "gone"); }), "key \"gone\" is missing");
}

TEST(JsonFields, LongValuesAreCutInMessages) {
  const nlohmann::json object = {{"t", std::string(500, 'x')}};
  EXPECT_LT(message_of([&] { count_field(object, "t"); }).size(), 120u);
}

TEST(Nullable, IsNullWhereThereIsNoValue) {
  EXPECT_EQ(nullable(std::optional<int64_t>(7)).dump(), "7");
  EXPECT_EQ(nullable(std::optional<int64_t>()).dump(), "null");
}

}  // namespace
}  // namespace flopmark
