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

}  // namespace
}  // namespace flopmark
