#include "report/units.h"

#include <gtest/gtest.h>

#include <limits>

#include "flopmark/counted.h"

namespace flopmark {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(Units, SecondsHaveFourDigitsAndTheUnitThatFits) {
  EXPECT_EQ(format_seconds(0.2), "200.0 ms");
  EXPECT_EQ(format_seconds(1.5), "1.500 s");
  EXPECT_EQ(format_seconds(12.3e-6), "12.30 us");
  EXPECT_EQ(format_seconds(4.25e-9), "4.250 ns");
  EXPECT_EQ(format_seconds(1234.5), "1,234 s");
  EXPECT_EQ(format_seconds(0.0), "0 s");
}

TEST(Units, RoundingUpMovesOnToTheNextUnit) {
  EXPECT_EQ(format_seconds(0.99996), "1.000 s");
  EXPECT_EQ(format_seconds(0.99994), "999.9 ms");
  EXPECT_EQ(format_flop_per_s(999.96e9), "1.000 TFLOP/s");
  EXPECT_EQ(format_bytes(1023.99 * 1024), "1.000 MiB");
  EXPECT_EQ(format_bytes(1024.0 * 1024), "1.000 MiB");
}

TEST(Units, FlopAndFlopPerSecond) {
  EXPECT_EQ(format_flop(44826624), "44.83 MFLOP");
  EXPECT_EQ(format_flop(474422087516160.0), "474.4 TFLOP");
  EXPECT_EQ(format_flop_per_s(312e12), "312.0 TFLOP/s");
  EXPECT_EQ(format_flop(7), "7.000 FLOP");
  EXPECT_EQ(format_flop(0), "0 FLOP");
}

TEST(Units, BytesArePowersOf1024) {
  EXPECT_EQ(format_bytes(17), "17 B");
  EXPECT_EQ(format_bytes(1536), "1.500 KiB");
  EXPECT_EQ(format_bytes(512.0 * 1024 * 1024), "512.0 MiB");
  EXPECT_EQ(format_bytes(80.0 * 1024 * 1024 * 1024), "80.00 GiB");
}

TEST(Units, RatesAndCountsAreNeverInExponentForm) {
  EXPECT_EQ(format_rate(320), "320.0");
  EXPECT_EQ(format_rate(1234567.0), "1,235,000");
  EXPECT_EQ(format_rate(0.001234), "0.001234");
  EXPECT_EQ(format_rate(9.9996), "10.00");
  EXPECT_EQ(format_rate(1e-320), "0.000000000000");
  EXPECT_EQ(format_count(125248), "125,248");
  EXPECT_EQ(format_count(999), "999");
  EXPECT_EQ(format_count(-1000), "-1,000");
  EXPECT_EQ(format_count(70553706496), "70,553,706,496");
}

TEST(Units, EnergyPowerAndFrequency) {
  EXPECT_EQ(format_energy(64), "64.00 J");
  EXPECT_EQ(format_energy(0.03125), "31.25 mJ");
  EXPECT_EQ(format_energy(1234.5), "1.234 kJ");
  EXPECT_EQ(format_power(700), "700.0 W");
  EXPECT_EQ(format_frequency(1.98e9), "1.980 GHz");
  EXPECT_EQ(format_frequency(std::nullopt), "n/a");
}

TEST(Units, RatiosArePercentages) {
  EXPECT_EQ(format_ratio(0.42446), "42.45 %");
  EXPECT_EQ(format_ratio(5.63), "563.00 %");
  EXPECT_EQ(format_share(0.0123), "1.2 %");
}

TEST(Units, UnknownIsNeverANumber) {
  for (const std::optional<double> unknown :
       {std::optional<double>(), std::optional(kNan), std::optional(kInfinity)}) {
    EXPECT_EQ(format_seconds(unknown), "n/a");
    EXPECT_EQ(format_rate(unknown), "n/a");
    EXPECT_EQ(format_flop(unknown), "n/a");
    EXPECT_EQ(format_flop_per_s(unknown), "n/a");
    EXPECT_EQ(format_bytes(unknown), "n/a");
    EXPECT_EQ(format_ratio(unknown), "n/a");
    EXPECT_EQ(format_share(unknown), "n/a");
  }
}

TEST(Units, CountedThings) {
  EXPECT_EQ(format_counted(1, "parameter"), "1 parameter");
  EXPECT_EQ(format_counted(0, "parameter"), "0 parameters");
  EXPECT_EQ(format_counted(125248, "parameter"), "125,248 parameters");
  EXPECT_EQ(format_counted(1, "launch", "launches"), "1 launch");
  EXPECT_EQ(format_counted(2, "launch", "launches"), "2 launches");
  EXPECT_EQ(counted(1, "thread"), "1 thread");
  EXPECT_EQ(counted(1234, "thread"), "1234 threads");
}

}  // namespace
}  // namespace flopmark
