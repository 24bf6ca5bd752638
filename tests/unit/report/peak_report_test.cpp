#include "report/peak_report.h"

#include <gmock/gmock.h>

#include <regex>

#include "report/text_layout.h"

namespace flopmark {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

nlohmann::json json_of(const std::string& device, std::optional<std::string> precision = {}) {
  return peak_json({}, {{.name = device}, std::move(precision)});
}

std::string flat_report(const PeakSources& sources, const PeakQuestion& question) {
  const std::string text = peak_report(sources, question);
  for (const std::string& line : wrap(text, 1000000)) EXPECT_FALSE(line.empty());
  return std::regex_replace(text, std::regex("\\s+"), " ");
}

TEST(PeakJson, OfOnePrecisionHasTheFigureAtTheTop) {
  const auto answer = json_of("NVIDIA H200", "bf16");
  EXPECT_EQ(answer.at("flop_per_s"), 989.4e12);
  EXPECT_EQ(answer.at("device"), "NVIDIA H200");
  EXPECT_EQ(answer.at("precision"), "bf16");
  EXPECT_EQ(answer.at("source"), "table");
  EXPECT_EQ(answer.at("dense"), true);
  EXPECT_EQ(answer.at("unit"), "matrix");
  EXPECT_EQ(answer.at("accumulate"), "fp32");
  EXPECT_TRUE(answer.at("reason").is_null());
  EXPECT_EQ(answer.at("cross_check").at("clock_hz"), 1830e6);
  EXPECT_EQ(answer.at("row").at("name"), "H200 SXM");
}

TEST(PeakJson, OfAllPrecisionsHasOneEach) {
  const auto answer = json_of("NVIDIA A100-SXM4-80GB");
  EXPECT_EQ(answer.at("flop_per_s").at("fp32"), 19.5e12);
  EXPECT_EQ(answer.at("flop_per_s").at("tf32"), 156e12);
  EXPECT_EQ(answer.at("flop_per_s").at("bf16"), 312e12);
  EXPECT_EQ(answer.at("flop_per_s").size(), 8U);
  EXPECT_EQ(answer.at("peaks").size(), 8U);
}

// Public cases A10 and A11.
TEST(PeakJson, UnknownIsNullWithAReason) {
  const auto device = json_of("Vendor Nova 9000");
  EXPECT_TRUE(device.at("flop_per_s").is_null());
  EXPECT_THAT(device.at("reason").get<std::string>(), HasSubstr("Vendor Nova 9000"));
  const auto precision = json_of("Tesla V100-SXM2-32GB", "bf16");
  EXPECT_TRUE(precision.at("flop_per_s").is_null());
  EXPECT_EQ(precision.at("source"), "none");
  EXPECT_THAT(precision.at("reason").get<std::string>(), HasSubstr("no bf16 peak"));
}

TEST(PeakJson, WhatProvesNothingIsNoCrossCheck) {
  EXPECT_TRUE(json_of("NVIDIA GB200", "bf16").at("cross_check").is_null());
  EXPECT_FALSE(json_of("NVIDIA GB200", "bf16").at("flop_per_s").is_null());
}

TEST(PeakReport, ShowsHowAFigureIsChecked) {
  const std::string text = flat_report({}, {{.name = "NVIDIA H200"}, "bf16"});
  EXPECT_THAT(text,
              HasSubstr("bf16 989.4 TFLOP/s matrix units, sums in fp32; 132 SMs x 4096 FLOP per clock x 1830 "
                        "MHz = 989.4 TFLOP/s (+0.0 %)"));
  EXPECT_THAT(text, HasSubstr("dense"));
  EXPECT_THAT(flat_report({}, {{.name = "NVIDIA GB200"}, "bf16"}), HasSubstr("not a cross-check"));
  EXPECT_THAT(flat_report({}, {{.name = "AMD Instinct MI250X"}, "fp32"}),
              HasSubstr("47.90 TFLOP/s matrix units"));
}

/// 2 cores x 2 GHz x 64 = 256 GFLOP/s; nothing measured.
TEST(PeakReport, OfACpuShowsTheEstimateApart) {
  PeakSources sources;
  sources.cpu = cpu_facts_of("flags : avx512f\ncore id : 0\ncore id : 1\ncpu MHz : 2000.0\n", std::nullopt);
  const PeakQuestion question{{.name = "Example CPU", .is_cpu = true, .threads = 2}, std::nullopt};
  const std::string text = flat_report(sources, question);
  EXPECT_THAT(text, HasSubstr("fp32 n/a no measured fp32 peak on file"));
  EXPECT_THAT(text, HasSubstr("estimate, never used for MFU: 256 GFLOP/s = 2 cores x 2 GHz"));
  const auto answer = peak_json(sources, question);
  EXPECT_TRUE(answer.at("flop_per_s").at("fp32").is_null());
  EXPECT_EQ(answer.at("estimates").at(0).at("flop_per_s"), 256e9);
  MeasuredPeak measured;
  measured.device = "Example CPU";
  measured.threads = 2;
  measured.precision = "fp32";
  measured.flop_per_s = 1.5e11;
  sources.measured = {measured};
  EXPECT_EQ(peak_json(sources, question).at("flop_per_s").at("fp32"), 1.5e11);
  EXPECT_THAT(flat_report(sources, question), HasSubstr("fp32 150.0 GFLOP/s measured: matmul"));
  EXPECT_THAT(flat_report(sources, question),
              HasSubstr("estimate fp32 256.0 GFLOP/s, never used for MFU: 2 cores"));
}

TEST(PeakReport, DevicesOfOneJobAreAddedUp) {
  const Peak sum =
      sum_of_peaks({}, {{.name = "NVIDIA H100 80GB HBM3"}, {.name = "NVIDIA H100 PCIe"}}, "bf16");
  EXPECT_DOUBLE_EQ(sum.flop_per_s.value(), 1745.4e12);
  EXPECT_FALSE(sum_of_peaks({}, {{.name = "NVIDIA H200"}, {.name = "Nova"}}, "bf16").flop_per_s);
}

TEST(PeakReport, OddNamesDoNotReachTheTerminal) {
  const std::string text = peak_report({}, {{.name = "GPU \x1b[31mX\n"}, std::nullopt});
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
}

}  // namespace
}  // namespace flopmark
