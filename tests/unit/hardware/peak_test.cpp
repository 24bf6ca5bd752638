#include "hardware/peak.h"

#include <gmock/gmock.h>

namespace flopmark {
namespace {

using testing::HasSubstr;

struct DeviceRow {
  const char* device;
  double fp32, tf32, bf16;
};

/// Vendors' dense figures; the three denominators of one device differ, so the wrong row shows at once.
TEST(Peak, FollowsTheExactDeviceAndThePrecision) {
  const DeviceRow rows[] = {
      {"NVIDIA A100-SXM4-80GB", 19.5e12, 156e12, 312e12},
      {"NVIDIA A100 80GB PCIe", 19.5e12, 156e12, 312e12},
      {"NVIDIA H100 80GB HBM3", 66.9e12, 494.7e12, 989.4e12},
      {"NVIDIA H100 PCIe", 51.2e12, 378e12, 756e12},
      {"NVIDIA H100 NVL", 60e12, 417.5e12, 835.5e12},
      {"NVIDIA H200", 66.9e12, 494.7e12, 989.4e12},
      {"NVIDIA L40S", 91.6e12, 183e12, 362.05e12},
      {"NVIDIA B200", 75e12, 1125e12, 2250e12},
  };
  for (const auto& row : rows) {
    EXPECT_DOUBLE_EQ(lookup_peak(row.device, "fp32").flop_per_s.value(), row.fp32) << row.device;
    EXPECT_DOUBLE_EQ(lookup_peak(row.device, "tf32").flop_per_s.value(), row.tf32) << row.device;
    EXPECT_DOUBLE_EQ(lookup_peak(row.device, "bf16").flop_per_s.value(), row.bf16) << row.device;
    EXPECT_DOUBLE_EQ(lookup_peak(row.device, "fp16").flop_per_s.value(), row.bf16) << row.device;
  }
}

TEST(Peak, SaysWhereItComesFrom) {
  const Peak peak = lookup_peak("NVIDIA H200", "bf16");
  EXPECT_EQ(peak.source, "table");
  EXPECT_EQ(peak.precision, "bf16");
  EXPECT_EQ(peak.device, "NVIDIA H200");
  EXPECT_FALSE(peak.reason.has_value());
}

/// fp32 matmuls of CDNA run on the matrix units: 47.9, not the vector units' 23.9.
TEST(Peak, Fp32IsTheMatrixUnitsWhereTheyTakeFp32) {
  EXPECT_DOUBLE_EQ(lookup_peak("AMD Instinct MI250X", "fp32").flop_per_s.value(), 47.9e12);
}

TEST(Peak, UnknownDeviceHasNoPeakAndSaysHowToGiveOne) {
  for (const char* device :
       {"NVIDIA A100", "NVIDIA L40S X", "nvidia h200", "NVIDIA H200 ", "H200", "Vendor Nova 9000",
        "NVIDIA A100-SXM4-40GB MIG 1g.5gb", "AMD EPYC 7763 64-Core Processor"}) {
    const Peak peak = lookup_peak(device, "bf16");
    EXPECT_FALSE(peak.flop_per_s.has_value()) << device;
    EXPECT_EQ(peak.source, "none");
    EXPECT_EQ(peak.device, device);
    EXPECT_THAT(peak.reason.value(), HasSubstr(device));
    EXPECT_THAT(peak.reason.value(), HasSubstr("peak.flop_per_s"));
  }
}

TEST(Peak, NamelessDeviceHasNoPeak) {
  const Peak peak = lookup_peak("", "fp32");
  EXPECT_FALSE(peak.flop_per_s.has_value());
  EXPECT_FALSE(peak.device.has_value());
  EXPECT_THAT(peak.reason.value(), HasSubstr("peak.flop_per_s"));
}

TEST(Peak, KnownDeviceWithoutThePrecisionHasNoPeak) {
  const Peak peak = lookup_peak("Tesla V100-SXM2-32GB", "bf16");
  EXPECT_FALSE(peak.flop_per_s.has_value());
  EXPECT_THAT(peak.reason.value(), HasSubstr("no bf16 peak for \"Tesla V100-SXM2-32GB\""));
  EXPECT_FALSE(lookup_peak("NVIDIA GeForce RTX 5090 D", "tf32").flop_per_s.has_value());
  EXPECT_FALSE(lookup_peak("NVIDIA H200", "no-such-precision").flop_per_s.has_value());
}

TEST(Peak, ByHandGoesBeforeTheTable) {
  const Peak peak = resolve_peak(1e12, "NVIDIA H200", "bf16");
  EXPECT_DOUBLE_EQ(peak.flop_per_s.value(), 1e12);
  EXPECT_EQ(peak.source, "by_hand");
  EXPECT_EQ(peak.precision, "bf16");
  EXPECT_DOUBLE_EQ(resolve_peak(std::nullopt, "NVIDIA H200", "bf16").flop_per_s.value(), 989.4e12);
}

TEST(PeakPrecision, MixedPrecisionsMultiplyInTheirSmallType) {
  EXPECT_EQ(peak_precision("bf16-mixed"), "bf16");
  EXPECT_EQ(peak_precision("tf32"), "tf32");
  EXPECT_EQ(peak_precision(""), "");
}

// ---- names ----

/// One device as drivers, tools and people write it: the driver's own strings are matched, whole; for the
/// others the peak is unknown, and where only case, blanks or hyphens differ the reason says how the table
/// has it.
TEST(PeakNames, RealStringsInSeveralWays) {
  const std::pair<const char*, double> exact[] = {{"NVIDIA A100-SXM4-80GB", 312e12},
                                                  {"A100-SXM4-80GB", 312e12},  // before and since driver 460
                                                  {"NVIDIA A100 80GB PCIe", 312e12},
                                                  {"NVIDIA H100 80GB HBM3", 989.4e12},
                                                  {"NVIDIA H100 PCIe", 756e12},
                                                  {"NVIDIA GH200 480GB", 989.4e12},
                                                  {"NVIDIA B200", 2250e12},
                                                  {"NVIDIA GB200", 2500e12},
                                                  {"NVIDIA L40", 181.05e12},
                                                  {"NVIDIA L40S", 362.05e12},
                                                  {"NVIDIA A10", 125e12},
                                                  {"NVIDIA A10G", 70e12},
                                                  {"NVIDIA GeForce RTX 4090", 165.2e12},
                                                  {"NVIDIA GeForce RTX 4090 D", 147.1e12},
                                                  {"AMD Instinct MI300X", 1307.4e12},
                                                  {"H200 SXM", 989.4e12}};
  for (const auto& [name, peak] : exact)
    EXPECT_DOUBLE_EQ(lookup_peak(name, "bf16").flop_per_s.value(), peak) << name;

  const std::pair<const char*, const char*> near[] = {{"nvidia h100 80gb hbm3", "NVIDIA H100 80GB HBM3"},
                                                      {"NVIDIA A100 SXM4 80GB", "NVIDIA A100-SXM4-80GB"},
                                                      {"NVIDIA  H200 ", "NVIDIA H200"},
                                                      {"NVIDIA L40-S", "NVIDIA L40S"},
                                                      {"NVIDIA_B200", "NVIDIA B200"}};
  for (const auto& [name, meant] : near) {
    const Peak peak = lookup_peak(name, "bf16");
    EXPECT_FALSE(peak.flop_per_s.has_value()) << name;
    EXPECT_THAT(peak.reason.value(), HasSubstr("the table has \"" + std::string(meant) + "\"")) << name;
  }
  for (const char* other : {"NVIDIA H100", "NVIDIA GeForce RTX 4090 Laptop GPU", "NVIDIA A100-PCIE-80GB",
                            "RTX 3090", "NVIDIA H100 80GB HBM3 NVIDIA", "AMD Instinct MI300"}) {
    const Peak peak = lookup_peak(other, "bf16");
    EXPECT_FALSE(peak.flop_per_s.has_value()) << other;
    EXPECT_THAT(peak.reason.value(), testing::Not(HasSubstr("the table has"))) << other;
  }
}

TEST(PeakNames, OddCharactersStayInTheNameAndInTheLineToAdd) {
  for (const std::string name : {"GPU \"X\"\n", "\xFF\xFE", "{}%s", "../x", "\u20AC"}) {
    const Peak peak = lookup_peak(name, "bf16");
    EXPECT_FALSE(peak.flop_per_s.has_value());
    EXPECT_EQ(peak.device, name);
    EXPECT_THAT(peak.reason.value(), HasSubstr("\"peak_tflops\":{\"bf16\":TFLOP_PER_S}"));
  }
  EXPECT_THAT(lookup_peak("GPU \"X\"", "bf16").reason.value(), HasSubstr("\"name\":\"GPU \\\"X\\\"\""));
}

/// The line to add, its figure filled in, is a row that gives the device its peak.
TEST(PeakNames, TheLineToAddWorks) {
  const std::string reason = lookup_peak("Vendor Nova 9000", "bf16").reason.value();
  const size_t begin = reason.find('['), end = reason.find("], or give");
  std::string line = reason.substr(begin, end + 1 - begin);
  line.replace(line.find("TFLOP_PER_S"), 11, "123");
  PeakSources sources;
  sources.table =
      merge_peak_tables(sources.table, parse_peak_table(nlohmann::json::parse(line), "mine.json"));
  const Peak peak = find_peak(sources, {.name = "Vendor Nova 9000"}, "bf16");
  EXPECT_DOUBLE_EQ(peak.flop_per_s.value(), 123e12);
  EXPECT_EQ(peak.source, "table");
  EXPECT_EQ(peak.derivation, "row \"Vendor Nova 9000\" of mine.json");
}

// ---- SM count, MIG, clock ----

/// 132 SMs on file: 131 is within 1 %, 130 is not. The 12 GB RTX 3080 has the name of the 10 GB one and 70
/// SMs.
TEST(PeakUnits, AnotherSmCountHasNoPeakAndSaysBoth) {
  const PeakSources sources;
  EXPECT_TRUE(find_peak(sources, {.name = "NVIDIA H200", .sm_count = 131}, "bf16").flop_per_s.has_value());
  EXPECT_FALSE(find_peak(sources, {.name = "NVIDIA H200", .sm_count = 130}, "bf16").flop_per_s.has_value());
  const Peak peak = find_peak(sources, {.name = "NVIDIA GeForce RTX 3080", .sm_count = 70}, "bf16");
  EXPECT_FALSE(peak.flop_per_s.has_value());
  EXPECT_EQ(peak.source, "none");
  EXPECT_THAT(peak.reason.value(), HasSubstr("70 SMs"));
  EXPECT_THAT(peak.reason.value(), HasSubstr("is for 68"));
  EXPECT_THAT(peak.reason.value(), HasSubstr("\"name\":\"GeForce RTX 3080 (10GB)\""));
  EXPECT_THAT(peak.reason.value(), HasSubstr("\"sm_count\":70"));
}

TEST(PeakUnits, AMigSliceHasNoPeakAndSaysBothCounts) {
  const PeakSources sources;
  const char* name = "NVIDIA A100-SXM4-40GB MIG 1g.5gb";
  const Peak peak = find_peak(sources, {.name = name, .sm_count = 14}, "bf16");
  EXPECT_FALSE(peak.flop_per_s.has_value());
  EXPECT_THAT(peak.reason.value(), HasSubstr("slice (MIG) with 14 SMs"));
  EXPECT_THAT(peak.reason.value(), HasSubstr("with 108 SMs"));
  EXPECT_THAT(peak.reason.value(), HasSubstr("\"sm_count\":14"));
  EXPECT_FALSE(lookup_peak("NVIDIA H200 MIG 3g.71gb", "fp32").flop_per_s.has_value());
}

/// The row assumes 1830 MHz for products and 1980 at most.
TEST(PeakUnits, TheDriversClockIsHeldAgainstTheRow) {
  const PeakSources sources;
  EXPECT_EQ(clock_disagreement(sources, {.name = "NVIDIA H200", .clock_hz = 1980e6}), std::nullopt);
  EXPECT_EQ(clock_disagreement(sources, {.name = "NVIDIA H200"}), std::nullopt);
  EXPECT_EQ(clock_disagreement(sources, {.name = "Nova", .clock_hz = 1e6}), std::nullopt);
  EXPECT_THAT(clock_disagreement(sources, {.name = "NVIDIA H200", .clock_hz = 1605e6}).value(),
              testing::AllOf(HasSubstr("1980 MHz"), HasSubstr("1605 MHz"), HasSubstr("lower")));
  EXPECT_THAT(clock_disagreement(sources, {.name = "NVIDIA H200", .clock_hz = 2100e6}).value(),
              HasSubstr("higher"));
}

// ---- several precisions, several devices ----

/// A100: 90 % of the FLOPs at 312 and 10 % at 19.5 TFLOP/s: 1 / (0.9 / 312 + 0.1 / 19.5) = 124.8 TFLOP/s.
TEST(EffectivePeak, IsWhatEveryPartAtItsOwnPeakWouldReach) {
  const PeakSources sources;
  const PeakDevice device{.name = "NVIDIA A100-SXM4-80GB"};
  const Peak peak = effective_peak(sources, device, {{"bf16", 900}, {"fp32", 100}, {"tf32", 0}}, "bf16");
  EXPECT_NEAR(peak.flop_per_s.value(), 124.8e12, 1e6);
  EXPECT_EQ(peak.precision, "bf16+fp32");
  EXPECT_EQ(peak.source, "table");
  EXPECT_EQ(peak.device, device.name);
  EXPECT_EQ(peak.derivation, "1 / sum(share / peak): bf16 90 % at 312 TFLOP/s, fp32 10 % at 19.5 TFLOP/s");
}

TEST(EffectivePeak, OfOnePrecisionIsItsOwn) {
  const PeakSources sources;
  const PeakDevice device{.name = "NVIDIA A100-SXM4-80GB"};
  EXPECT_EQ(effective_peak(sources, device, {{"tf32", 5}, {"fp32", 0}}, "bf16").flop_per_s, 156e12);
  EXPECT_EQ(effective_peak(sources, device, {}, "bf16").flop_per_s, 312e12);
  EXPECT_EQ(effective_peak(sources, device, {}, "bf16").derivation, std::nullopt);
}

TEST(EffectivePeak, IsUnknownIfOnePartIs) {
  const Peak peak = effective_peak({}, {.name = "Tesla V100-SXM2-32GB"}, {{"bf16", 1}, {"fp16", 99}}, "fp16");
  EXPECT_FALSE(peak.flop_per_s.has_value());
  EXPECT_THAT(peak.reason.value(), HasSubstr("no bf16 peak"));
}

/// 989.4 + 756 = 1745.4 in all, 872.7 a rank: MFU = flop / (t x 872.7).
TEST(RankPeaks, AreSummedOverDifferentDevices) {
  const Peak sxm = lookup_peak("NVIDIA H100 80GB HBM3", "bf16"),
             pcie = lookup_peak("NVIDIA H100 PCIe", "bf16");
  const Peak mean = mean_rank_peak({sxm, pcie});
  EXPECT_DOUBLE_EQ(mean.flop_per_s.value(), 872.7e12);
  EXPECT_EQ(mean.device, "NVIDIA H100 80GB HBM3 + NVIDIA H100 PCIe");
  EXPECT_EQ(mean.derivation, "1745 TFLOP/s in all, on 2 ranks");
  EXPECT_EQ(mean_rank_peak({sxm, sxm}).flop_per_s, 989.4e12);
  EXPECT_EQ(mean_rank_peak({sxm, sxm}).derivation, std::nullopt);
  const Peak unknown = mean_rank_peak({sxm, lookup_peak("Nova", "bf16")});
  EXPECT_FALSE(unknown.flop_per_s.has_value());
  EXPECT_THAT(unknown.reason.value(), HasSubstr("Nova"));
}

// ---- measured ----

PeakSources with_measured_cpu() {
  PeakSources sources;
  MeasuredPeak peak;
  peak.device = "Example CPU";
  peak.threads = 4;
  peak.precision = "fp32";
  peak.flop_per_s = 2e11;
  peak.spread_ratio = 1.05;
  peak.m = peak.n = peak.k = 1024;
  peak.blocks = 15;
  peak.timed_s = 3.1;
  peak.time = "2026-01-02T03:04:05Z";
  peak.libtorch = "2.15.0";
  sources.measured = {peak};
  return sources;
}

TEST(MeasuredPeak, OfACpuIsItsDenominatorAndSaysHowItWasMeasured) {
  const Peak peak =
      find_peak(with_measured_cpu(), {.name = "Example CPU", .is_cpu = true, .threads = 4}, "fp32");
  EXPECT_EQ(peak.flop_per_s, 2e11);
  EXPECT_EQ(peak.source, "measured");
  EXPECT_EQ(peak.derivation,
            "matmul 1024 x 1024 x 1024 (m x n x k), median of 15 blocks in 3.1 s, p90/p10 1.050, 4 threads, "
            "2026-01-02T03:04:05Z, LibTorch 2.15.0");
}

TEST(MeasuredPeak, CountsForTheSameDeviceThreadsAndPrecisionOnly) {
  const PeakSources sources = with_measured_cpu();
  const PeakDevice other_threads{.name = "Example CPU", .is_cpu = true, .threads = 2};
  const Peak peak = find_peak(sources, other_threads, "fp32");
  EXPECT_FALSE(peak.flop_per_s.has_value());
  EXPECT_THAT(peak.reason.value(), HasSubstr("flopmark peak --measure --threads 2"));
  EXPECT_THAT(peak.reason.value(), HasSubstr("on file is that of 4 threads"));
  EXPECT_THAT(find_peak(sources, other_threads, "fp64").reason.value(),
              HasSubstr("--measure --threads 2 --precision fp64"));
  EXPECT_FALSE(find_peak(sources, {.name = "Example CPU", .is_cpu = true, .threads = 4}, "bf16").flop_per_s);
  EXPECT_FALSE(
      find_peak(sources, {.name = "Example CPU 2", .is_cpu = true, .threads = 4}, "fp32").flop_per_s);
}

TEST(MeasuredPeak, OfAGpuIsForWhatTheTableDoesNotHave) {
  PeakSources sources;
  MeasuredPeak peak;
  peak.precision = "bf16";
  peak.flop_per_s = 7e14;
  for (const char* device : {"NVIDIA H200", "Vendor Nova 9000"}) {
    peak.device = device;
    sources.measured.push_back(peak);
  }
  EXPECT_EQ(find_peak(sources, {.name = "NVIDIA H200"}, "bf16").source, "table");
  EXPECT_EQ(find_peak(sources, {.name = "Vendor Nova 9000"}, "bf16").source, "measured");
  EXPECT_EQ(find_peak(sources, {.name = "NVIDIA H200", .sm_count = 66}, "bf16").source, "measured");
}

TEST(MeasuredPeak, WithoutOneTheReasonHasTheEstimate) {
  PeakSources sources;
  sources.cpu = cpu_facts_of("flags : avx512f\ncore id : 0\ncore id : 1\ncpu MHz : 2000.0\n", std::nullopt);
  const Peak peak = find_peak(sources, {.name = "Example CPU", .is_cpu = true, .threads = 2}, "fp32");
  EXPECT_FALSE(peak.flop_per_s.has_value());
  EXPECT_THAT(peak.reason.value(), HasSubstr("estimate, never used for MFU: 256 GFLOP/s = 2 cores x 2 GHz"));
}

}  // namespace
}  // namespace flopmark
