#include "hardware/peak_table.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <set>

#include "flopmark/error.h"

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

/// Figures more than 1 % off SMs x FLOPs per clock x clock, in percent, each with why it stands all the same.
struct Exception {
  const char* row;
  const char* precision;
  double percent;
};
constexpr Exception kExceptions[] = {
    {"L40S", "tf32", 1.09},  // 183 is 181.05 rounded up by the vendor
    {"L40S", "fp8", 1.22},   // 733 is at 2520 MHz, the bf16 figure at 2490
    {"H20", "fp32",
     11.29},  // 44 is the published figure; 78 SMs x 256 x 1.98 GHz are 39.5, clock not published
    {"B300", "fp32", 3.10},  // boost clock and SM count are not published
};

/// What MFU may divide by. Where peak and clock are derived from each other nothing is cross-checked, and the
/// figure does not count.
TEST(PeakTable, PeaksAreWhatTheUnitsCanDoDenseWithinOnePercent) {
  std::set<std::string> exceptions;
  int checked = 0, derived = 0;
  for (const auto& row : peak_table()) {
    for (const char* precision : {"fp32", "tf32", "fp16", "bf16", "fp8"}) {
      if (!row.flop_per_s.contains(precision)) continue;
      const double computed = row.flop_per_clock_per_sm.at(precision) *
                              static_cast<double>(row.sm_count.value()) * row.clock_hz.at(precision);
      const double percent = 100 * (row.flop_per_s.at(precision) / computed - 1);
      row.derived.contains(precision) ? ++derived : ++checked;
      if (std::abs(percent) <= 1) continue;
      const std::string name = row.name + " " + precision;
      exceptions.insert(name);
      const auto* known = std::find_if(
          std::begin(kExceptions), std::end(kExceptions),
          [&](const Exception& one) { return name == std::string(one.row) + " " + one.precision; });
      ASSERT_NE(known, std::end(kExceptions)) << name << " is off by " << percent << " %";
      EXPECT_NEAR(percent, known->percent, 0.01) << name;
    }
  }
  EXPECT_EQ(exceptions.size(), std::size(kExceptions)) << "an exception that is none any more";
  EXPECT_EQ(checked, 208);
  EXPECT_EQ(derived, 45);
}

TEST(PeakTable, RowsWhoseClockCameFromThePeakAreMarked) {
  for (const char* name :
       {"GB200", "GB300", "H20", "B300", "RTX A4000", "RTX 5000 Ada", "RTX PRO 6000 Blackwell Server"}) {
    EXPECT_TRUE(find_peak_row(name)->derived.contains("bf16")) << name;
  }
  EXPECT_FALSE(find_peak_row("NVIDIA H200")->derived.contains("bf16"));
  EXPECT_FALSE(find_peak_row("NVIDIA A30")->derived.contains("fp32"))
      << "only its tensor figures were computed";
}

/// GeForce cards keep sums in fp32 at half the rate; training does, so that is the figure without a suffix.
TEST(PeakTable, GeForceHalvesFp16WithFp32Sums) {
  for (const auto& row : peak_table()) {
    if (!row.flop_per_s.contains("fp16_acc16")) continue;
    EXPECT_NEAR(row.flop_per_s.at("fp16_acc16") / row.flop_per_s.at("fp16"), 2.0, 0.01) << row.name;
  }
  EXPECT_STREQ(find_number_format("fp16")->accumulate, "fp32");
  EXPECT_STREQ(find_number_format("fp16_acc16")->accumulate, "fp16");
  EXPECT_STREQ(find_number_format("fp64")->unit, "vector");
  EXPECT_EQ(find_number_format("fp17"), nullptr);
}

using nlohmann::json;

/// A sound row: 100 SMs x 1000 FLOP per clock x 2000 MHz = 200 TFLOP/s.
json sound_row() {
  return {{"name", "Nova"},
          {"match", {"Vendor Nova 9000"}},
          {"sm_count", 100},
          {"peak_tflops", {{"fp32", 50}, {"bf16", 200}}},
          {"flop_per_clock_per_sm", {{"bf16", 1000}}},
          {"check_clock_mhz", {{"bf16", 2000}, {"fp32", nullptr}}},
          {"source", {"vendor sheet"}}};
}

void expect_refused(const json& table, const std::vector<std::string>& parts) {
  try {
    parse_peak_table(table, "mine.json");
    FAIL() << table.dump();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    EXPECT_THAT(error.what(), testing::HasSubstr("mine.json"));
    for (const std::string& part : parts) EXPECT_THAT(error.what(), testing::HasSubstr(part));
  }
}

TEST(PeakTable, ReadsARowWithFewKeys) {
  const PeakTable table = parse_peak_table(json::array({sound_row()}), "mine.json");
  ASSERT_EQ(table.size(), 1U);
  EXPECT_EQ(table[0].flop_per_s.at("bf16"), 200e12);
  EXPECT_EQ(table[0].sm_count, 100);
  EXPECT_EQ(table[0].origin, "mine.json");
  EXPECT_FALSE(table[0].clock_hz.contains("fp32"));
  EXPECT_EQ(computed_peak(table[0], "bf16"), 200e12);
  EXPECT_EQ(computed_peak(table[0], "fp32"), std::nullopt);
}

TEST(PeakTable, FaultsNameRowKeyAndValue) {
  const std::pair<json, std::vector<std::string>> faults[] = {
      {{{"match", "Vendor Nova 9000"}}, {"row 1 (\"Nova\")", "\"match\"", "list of texts"}},
      {{{"match", json::array()}}, {"\"match\"", "at least one"}},
      {{{"match", {1}}}, {"\"match\"", "found 1"}},
      {{{"source", nullptr}}, {"\"source\""}},
      {{{"sm_count", 1.5}}, {"\"sm_count\"", "whole number", "1.5"}},
      {{{"sm_count", 0}}, {"\"sm_count\""}},
      {{{"peak_tflops", {{"bf17", 1}}}}, {"unknown precision \"bf17\"", "fp8"}},
      {{{"peak_tflops", {{"bf16", -1}}}}, {"\"peak_tflops.bf16\"", "-1"}},
      {{{"peak_tflops", {{"bf16", "200"}}}}, {"\"peak_tflops.bf16\"", "number"}},
      {{{"peak_tflops", {{"bf16", 200e12}}}}, {"\"peak_tflops.bf16\"", "1e+06"}},
      {{{"peak_tflops", json::object()}}, {"\"peak_tflops\"", "TFLOP/s"}},
      {{{"peak_tlfops", 1}}, {"unknown key \"peak_tlfops\"", "peak_tflops"}},
      {{{"derived", {"bf17"}}}, {"derived", "bf17"}}};
  for (const auto& [patch, parts] : faults) {
    json row = sound_row();
    row.update(patch);
    expect_refused(json::array({row}), parts);
  }
  for (const char* key : {"name", "match", "peak_tflops", "source"}) {
    json row = sound_row();
    row.erase(key);
    expect_refused(json::array({row}), {std::string("key \"") + key + "\" is missing"});
  }
  expect_refused(json::object(), {"list of rows"});
  expect_refused(json::array(), {"list of rows"});
  expect_refused(json::array({sound_row(), 7}), {"row 2", "found 7"});
}

/// 400 dense for 100 SMs x 1000 x 2 GHz = 200 is the figure with sparsity.
TEST(PeakTable, ContradictionsAreRefused) {
  json sparse = sound_row();
  sparse["peak_tflops"]["bf16"] = 400;
  expect_refused(json::array({sparse}), {"peak_tflops.bf16 is 400", "+100.00 %", "sparsity"});
  sparse["check_deviation_percent"] = {{"bf16", 100}};
  EXPECT_EQ(parse_peak_table(json::array({sparse}), "").size(), 1U);
  sparse["check_deviation_percent"] = {{"bf16", 50}};
  expect_refused(json::array({sparse}), {"+100.00 %"});
  json falling = sound_row();
  falling["peak_tflops"]["fp8"] = 150;
  expect_refused(json::array({falling}), {"fp8 has 150", "bf16 with 200"});
  json slow_vector = sound_row();
  slow_vector["peak_tflops"]["fp64"] = 60;
  expect_refused(json::array({slow_vector}), {"fp32 has 50", "fp64 with 60"});
  json integers = sound_row();
  integers["peak_tflops"]["int8"] = 1;
  EXPECT_EQ(parse_peak_table(json::array({integers}), "").size(), 1U);
  expect_refused(json::array({sound_row(), sound_row()}), {"row 2", "another row has this name"});
  json twin = sound_row();
  twin["name"] = "Nova 2";
  expect_refused(json::array({sound_row(), twin}), {"\"Nova 2\"", "\"Vendor Nova 9000\"", "\"Nova\""});
}

TEST(PeakTable, OwnRowsReplaceByNameOrAreAdded) {
  json row = sound_row();
  row["name"] = "H200 SXM";
  row["match"] = {"NVIDIA H200"};
  const PeakTable more = parse_peak_table(json::array({row, sound_row()}), "mine.json");
  const PeakTable merged = merge_peak_tables(peak_table(), more);
  EXPECT_EQ(merged.size(), peak_table().size() + 1);
  EXPECT_EQ(find_peak_row(merged, "NVIDIA H200")->flop_per_s.at("bf16"), 200e12);
  EXPECT_EQ(find_peak_row(merged, "Vendor Nova 9000")->name, "Nova");
  row["name"] = "My H200";
  try {
    merge_peak_tables(peak_table(), parse_peak_table(json::array({row}), "mine.json"));
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("give the new one its name, \"H200 SXM\""));
  }
}

TEST(PeakTable, RefusesWhatIsNoTable) {
  EXPECT_ANY_THROW(parse_peak_table("[{\"name\": \"X\"}]"));
  EXPECT_ANY_THROW(parse_peak_table("["));
}

}  // namespace
}  // namespace flopmark
