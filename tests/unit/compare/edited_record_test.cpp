// Records edited by hand, one value at a time: whatever it is, the answer is a clear error or a verdict on
// numbers, and a record whose times were not touched is never called slower or faster.
#include <gmock/gmock.h>

#include <cmath>

#include "compare/stored_comparison.h"
#include "flopmark/error.h"
#include "results/record_file.h"
#include "unit/compare/compared_records.h"

namespace flopmark {
namespace {

std::vector<std::string> places_in(const nlohmann::json& value) {
  std::vector<std::string> places;
  const nlohmann::json flat = value.flatten();
  for (const auto& [place, leaf] : flat.items()) places.push_back(place);
  return places;
}

const std::vector<nlohmann::json>& strange_values() {
  static const std::vector<nlohmann::json> kValues{nullptr,
                                                   -1,
                                                   0,
                                                   0.0,
                                                   1e308,
                                                   5e-324,
                                                   9223372036854775807,
                                                   -1e308,
                                                   "text",
                                                   true,
                                                   nlohmann::json::array(),
                                                   nlohmann::json::object(),
                                                   nlohmann::json::array({nullptr})};
  return kValues;
}

bool is_finite(const StoredComparison& comparison) {
  for (const SummaryComparison& summary : comparison.summaries) {
    if (!std::isfinite(summary.change_ratio) || !std::isfinite(summary.a_s) || !std::isfinite(summary.b_s)) {
      return false;
    }
  }
  return true;
}

/// Judges, as either side. @returns whether there was a verdict.
void expect_sound(const RunRecord& edited, const std::string& what) {
  const RunRecord good = steady_record();
  for (const auto& [a, b] : {std::pair{good, edited}, std::pair{edited, good}}) {
    try {
      const StoredComparison comparison = compare_records(a, b);
      EXPECT_TRUE(is_finite(comparison)) << what;
      EXPECT_NE(comparison.verdict, Verdict::slower) << what;
      EXPECT_NE(comparison.verdict, Verdict::faster) << what;
    } catch (const Error& error) {
      EXPECT_TRUE(error.code() == ExitCode::baseline || error.code() == ExitCode::cannot_judge)
          << what << ": " << error.what();
    }
  }
}

TEST(EditedRecord, OneStrangeValueMakesNoVerdict) {
  const nlohmann::json whole = to_json(steady_record());
  size_t read = 0;
  for (const std::string& place : places_in(whole)) {
    for (const nlohmann::json& value : strange_values()) {
      nlohmann::json edited = whole;
      edited[nlohmann::json::json_pointer(place)] = value;
      RunRecord record;
      try {
        record = record_from_json(edited, "edited.json");
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ExitCode::baseline) << place;
        EXPECT_THAT(error.what(), testing::StartsWith("edited.json: ")) << place;
        continue;
      }
      ++read;
      expect_sound(record, place + " = " + value.dump());
    }
  }
  EXPECT_GT(read, 500u) << "most were refused by the reader: nothing was tested";
}

TEST(EditedRecord, TimesInAnotherUnitAreRefused) {
  for (const double factor : {1e3, 1e6, 1e-3, 60.0}) {
    RunRecord record = steady_record();
    for (Repeat& repeat : record.repeats) {
      for (double& mean_s : repeat.block_means_s) mean_s *= factor;
    }
    EXPECT_THROW(compare_records(steady_record(), record), Error) << factor;
    EXPECT_THROW(compare_records(record, steady_record()), Error) << factor;
    record.metrics.step_s->mean *= factor;  // and the mean with them: the wall clock and the rate are left
    EXPECT_THROW(compare_records(steady_record(), record), Error) << factor;
  }
}

}  // namespace
}  // namespace flopmark
