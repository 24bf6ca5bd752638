#include "hardware/cpu_estimate.h"

#include <gmock/gmock.h>

namespace flopmark {
namespace {

using testing::HasSubstr;

/// Two packages of one core with two threads each.
constexpr const char* kXeon =
    "processor\t: 0\nmodel name\t: Example Xeon\ncpu MHz\t\t: 2100.5\nphysical id\t: 0\ncore id\t\t: 0\n"
    "flags\t\t: fpu sse2 avx avx2 fma avx512f avx512_bf16 amx_bf16\n\n"
    "processor\t: 1\nmodel name\t: Example Xeon\ncpu MHz\t\t: 2600.0\nphysical id\t: 0\ncore id\t\t: 0\n\n"
    "processor\t: 2\ncpu MHz\t\t: 800.0\nphysical id\t: 1\ncore id\t\t: 0\n";

CpuFacts with_flags(std::set<std::string> flags) {
  CpuFacts facts;
  facts.flags = std::move(flags);
  facts.clock_hz = 1e9;
  return facts;
}

double per_cycle(std::set<std::string> flags, const char* precision) {
  return estimate_cpu_peak(with_flags(std::move(flags)), 1, precision).value().flop_per_cycle;
}

TEST(CpuFacts, AreReadFromTheText) {
  const CpuFacts facts = cpu_facts_of(kXeon, std::nullopt);
  EXPECT_EQ(facts.model, "Example Xeon");
  EXPECT_EQ(facts.physical_cores, 2) << "siblings are one core, equal numbers in two packages are two";
  EXPECT_EQ(facts.clock_hz, 2600e6);
  EXPECT_THAT(facts.clock_source, HasSubstr("/proc/cpuinfo"));
  EXPECT_TRUE(facts.flags.contains("amx_bf16"));
  EXPECT_FALSE(facts.flags.contains("amx"));
}

TEST(CpuFacts, TheHighestClockOfSysfsGoesFirst) {
  const CpuFacts facts = cpu_facts_of(kXeon, 3.8e6);
  EXPECT_EQ(facts.clock_hz, 3.8e9);
  EXPECT_THAT(facts.clock_source, HasSubstr("cpuinfo_max_freq"));
}

TEST(CpuFacts, OfThisMachineNameIt) {
  EXPECT_TRUE(read_cpu_facts().model.has_value());
}

/// 2 cores x 2.6 GHz x 64 = 332.8 GFLOP/s; bf16 on AMX 2 x 2.6 x 1024 = 5324.8; a third thread adds no core.
TEST(CpuEstimate, IsCoresTimesClockTimesFlopPerCycle) {
  const CpuFacts facts = cpu_facts_of(kXeon, std::nullopt);
  const auto fp32 = estimate_cpu_peak(facts, 3, "fp32");
  EXPECT_DOUBLE_EQ(fp32->flop_per_s, 332.8e9);
  EXPECT_EQ(fp32->cores, 2);
  EXPECT_EQ(
      fp32->derivation,
      "2 cores x 2.6 GHz (present clock, /proc/cpuinfo) x 64 FLOP per cycle (AVX-512: 2 units x 16 lanes x 1 "
      "multiply-add)");
  EXPECT_DOUBLE_EQ(estimate_cpu_peak(facts, 1, "bf16")->flop_per_s, 2662.4e9);
  EXPECT_DOUBLE_EQ(estimate_cpu_peak(facts, std::nullopt, "fp64")->flop_per_s, 166.4e9);
}

TEST(CpuEstimate, FollowsTheInstructionSets) {
  EXPECT_EQ(per_cycle({"sse2"}, "fp32"), 8);
  EXPECT_EQ(per_cycle({"sse2", "avx"}, "fp32"), 16);
  EXPECT_EQ(per_cycle({"sse2", "avx", "avx2"}, "fp32"), 16) << "without fma no multiply-add";
  EXPECT_EQ(per_cycle({"sse2", "avx", "avx2", "fma"}, "fp32"), 32);
  EXPECT_EQ(per_cycle({"sse2", "avx", "avx2", "fma", "avx512f"}, "fp32"), 64);
  EXPECT_EQ(per_cycle({"avx512f", "avx512_bf16"}, "bf16"), 128);
  EXPECT_EQ(per_cycle({"avx512f", "avx512_bf16", "amx_bf16"}, "bf16"), 1024);
  EXPECT_EQ(per_cycle({"asimd"}, "fp32"), 16);
}

TEST(CpuEstimate, APrecisionWithoutInstructionsIsBoundedByFp32) {
  const auto estimate = estimate_cpu_peak(with_flags({"avx2", "fma"}), 1, "bf16");
  EXPECT_EQ(estimate->flop_per_cycle, 32);
  EXPECT_THAT(estimate->derivation, HasSubstr("by fp32, there is no bf16"));
}

TEST(CpuEstimate, IsAbsentWithAReason) {
  std::string missing;
  EXPECT_FALSE(estimate_cpu_peak(with_flags({"riscv"}), 1, "fp32", &missing));
  EXPECT_THAT(missing, HasSubstr("instructions"));
  EXPECT_FALSE(estimate_cpu_peak(cpu_facts_of("flags : avx\n", std::nullopt), 1, "fp32", &missing));
  EXPECT_THAT(missing, HasSubstr("clock"));
  EXPECT_FALSE(estimate_cpu_peak(with_flags({"avx"}), std::nullopt, "fp32", &missing));
  EXPECT_THAT(missing, HasSubstr("cores"));
  EXPECT_FALSE(estimate_cpu_peak({}, std::nullopt, "fp32"));
}

}  // namespace
}  // namespace flopmark
