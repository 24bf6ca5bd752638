#include <gmock/gmock.h>

#include <cstdlib>

#include "fakes/example_record.h"
#include "results/record_file.h"
#include "unit/results/scratch_tree.h"

namespace flopmark {
namespace {

using nlohmann::json;

TEST(RecordFormat, OneScalarPerLineAndNumbersOnOne) {
  const json object = {{"b", {{"y", 1}, {"x", "text"}}},
                       {"a", {1, 2.5, nullptr}},
                       {"c", json::array()},
                       {"d", json::object()},
                       {"e", {"p", "q"}},
                       {"f", {{{"k", true}}}}};
  EXPECT_EQ(format_record(object, false),
            "{\n"
            "  \"a\": [1, 2.5, null],\n"
            "  \"b\": {\n"
            "    \"x\": \"text\",\n"
            "    \"y\": 1\n"
            "  },\n"
            "  \"c\": [],\n"
            "  \"d\": {},\n"
            "  \"e\": [\n"
            "    \"p\",\n"
            "    \"q\"\n"
            "  ],\n"
            "  \"f\": [\n"
            "    {\n"
            "      \"k\": true\n"
            "    }\n"
            "  ]\n"
            "}\n");
}

TEST(RecordFormat, RoundsDoublesToSixDigitsAndNothingElse) {
  const json object = {
      {"a", 0.12345678},  {"b", 123456789},   {"c", 989412345678901.0}, {"d", 0.1 + 0.2},
      {"e", 9.999999e-7}, {"f", -2.00000049}, {"g", "0.12345678"},      {"config", {{"lr", 0.000123456789}}}};
  EXPECT_EQ(json::parse(format_record(object, true)), json({{"a", 0.123457},
                                                            {"b", 123456789},
                                                            {"c", 989412000000000.0},
                                                            {"d", 0.3},
                                                            {"e", 1e-6},
                                                            {"f", -2.0},
                                                            {"g", "0.12345678"},
                                                            {"config", {{"lr", 0.000123456789}}}}));
  EXPECT_EQ(json::parse(format_record(object, false)), object);
}

TEST(RecordFormat, ReadAndFormattedAgainGivesTheSameBytes) {
  for (const bool rounded : {false, true}) {
    const std::string once = format_record(to_json(example_record()), rounded);
    const RunRecord back = record_from_json(json::parse(once), "x");
    EXPECT_EQ(format_record(to_json(back), rounded), once);
  }
}

TEST(RecordFormat, TextThatIsNotUtf8IsMended) {
  const std::string text = format_record({{"a", "x\xff\x01y"}}, false);
  EXPECT_EQ(json::parse(text)["a"], "x\xEF\xBF\xBD\x01y");
}

/// The bytes of a whole record as others read it. FLOPMARK_UPDATE_GOLDEN=1 rewrites the file.
TEST(RecordFormat, GoldenRecord) {
  const std::filesystem::path golden = FLOPMARK_SOURCE_DIR "/tests/unit/results/golden/record.json";
  const std::string text = format_record(to_json(example_record()), true);
  if (std::getenv("FLOPMARK_UPDATE_GOLDEN")) write_file_atomically(golden, text);
  EXPECT_EQ(text, file_text(golden));
}

}  // namespace
}  // namespace flopmark
