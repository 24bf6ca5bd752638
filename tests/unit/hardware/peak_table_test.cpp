#include "hardware/peak_table.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <iterator>
#include <set>

namespace flopmark {
namespace {

TEST(PeakTable, IsTheFileAsItLies) {
  std::ifstream file(FLOPMARK_SOURCE_DIR "/src/hardware/peaks.json");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  ASSERT_GT(text.size(), 60000U);
  EXPECT_EQ(peak_table_text(), text);
}

TEST(PeakTable, EveryNameIsInOneRowOnly) {
  std::set<std::string> names, matches;
  for (const auto& row : peak_table()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_FALSE(row.match.empty()) << row.name;
    for (const auto& match : row.match) {
      EXPECT_TRUE(matches.insert(match).second) << match;
      EXPECT_EQ(find_peak_row(match), &row) << match;
    }
  }
  EXPECT_EQ(names.size(), 59U);
}

TEST(PeakTable, EveryFigureIsPositiveAndSourced) {
  for (const auto& row : peak_table()) {
    EXPECT_FALSE(row.sources.empty()) << row.name;
    EXPECT_TRUE(row.flop_per_s.contains("fp32")) << row.name;
    for (const auto& [precision, peak] : row.flop_per_s) {
      EXPECT_TRUE(std::isfinite(peak) && peak > 0) << row.name << " " << precision;
    }
  }
}

/// A narrower number type never lowers the peak of a unit.
void expect_not_falling(const PeakRow& row, const std::vector<std::string>& narrowing) {
  double last = 0;
  for (const auto& precision : narrowing) {
    const auto found = row.flop_per_s.find(precision);
    if (found == row.flop_per_s.end()) continue;
    EXPECT_GE(found->second, last) << row.name << " " << precision;
    last = found->second;
  }
}

TEST(PeakTable, PeaksDoNotFallAsTypesShrink) {
  for (const auto& row : peak_table()) {
    expect_not_falling(row, {"fp64", "fp32"});
    expect_not_falling(row, {"fp64_tensor", "fp32_tensor", "tf32", "fp16", "fp8", "fp6", "fp4"});
    expect_not_falling(row, {"fp64_tensor", "fp32_tensor", "tf32", "bf16", "fp8", "fp6", "fp4"});
    const auto bf16 = row.flop_per_s.find("bf16"), fp16 = row.flop_per_s.find("fp16");
    if (bf16 == row.flop_per_s.end()) continue;
    EXPECT_EQ(bf16->second, fp16->second) << row.name;
  }
}

/// Dense: what the units do per clock, times units, times clock, for every figure an MFU may divide by. A
/// figure with sparsity would be twice that; sources differ by up to 11 % (the clock of one device is not
/// published).
TEST(PeakTable, PeaksAreWhatTheUnitsCanDoDense) {
  for (const auto& row : peak_table()) {
    for (const char* precision : {"fp32", "fp32_tensor", "tf32", "fp16", "bf16"}) {
      if (!row.flop_per_s.contains(precision)) continue;
      const double expected =
          row.flop_per_clock_per_sm.at(precision) * row.sm_count * row.clock_hz.at(precision);
      EXPECT_NEAR(row.flop_per_s.at(precision) / expected, 1.0, 0.12) << row.name << " " << precision;
    }
  }
}

TEST(PeakTable, RefusesWhatIsNoTable) {
  EXPECT_ANY_THROW(parse_peak_table("[{\"name\": \"X\"}]"));
  EXPECT_ANY_THROW(parse_peak_table("["));
}

}  // namespace
}  // namespace flopmark
