#include "stats/signed_rank.h"

#include <gtest/gtest.h>

#include <cmath>

#include "stats/detection.h"
#include "stats/normal.h"
#include "stats/random.h"

namespace flopmark {
namespace {

/// Largest w with P(W <= w) <= level for n = 5, 6, ... 30; -1: none. As published (Wilcoxon, Katti and
/// Wilcox, 1970; the tables of Hollander and Wolfe and of McCornack, 1965, agree).
struct PublishedColumn {
  double level;
  std::vector<int> critical;
};

const std::vector<PublishedColumn>& published() {
  static const std::vector<PublishedColumn> kColumns{
      {0.05, {0,  2,  3,  5,  8,  10, 13, 17,  21,  25,  30,  35,  41,
              47, 53, 60, 67, 75, 83, 91, 100, 110, 119, 130, 140, 151}},
      {0.025, {-1, 0,  2,  3,  5,  8,  10, 13, 17, 21,  25,  29,  34,
               40, 46, 52, 58, 65, 73, 81, 89, 98, 107, 116, 126, 137}},
      {0.01,
       {-1, -1, 0, 1, 3, 5, 7, 9, 12, 15, 19, 23, 27, 32, 37, 43, 49, 55, 62, 69, 76, 84, 92, 101, 110, 120}},
      {0.005,
       {-1, -1, -1, 0, 1, 3, 5, 7, 9, 12, 15, 19, 23, 27, 32, 37, 42, 48, 54, 61, 68, 75, 83, 91, 100, 109}}};
  return kColumns;
}

TEST(SignedRank, CriticalValuesAreThePublishedOnes) {
  for (const PublishedColumn& column : published()) {
    ASSERT_EQ(column.critical.size(), 26u);
    for (size_t n = 5; n <= 30; ++n) {
      const auto critical = SignedRank(n).critical(column.level);
      EXPECT_EQ(critical ? static_cast<int>(*critical) : -1, column.critical[n - 5])
          << "n " << n << ", level " << column.level;
    }
  }
}

/// Every one of the 2^n sign patterns counted, so the shares are exact in binary.
TEST(SignedRank, EqualsEnumerationOfAllSigns) {
  for (unsigned n = 1; n <= 14; ++n) {
    std::vector<size_t> patterns(n * (n + 1) / 2 + 1, 0);
    for (unsigned signs = 0; signs < (1U << n); ++signs) {
      size_t w = 0;
      for (unsigned rank = 1; rank <= n; ++rank) w += (signs >> (rank - 1) & 1U) != 0 ? rank : 0;
      ++patterns[w];
    }
    const SignedRank distribution(n);
    size_t sum = 0;
    for (size_t w = 0; w < patterns.size(); ++w) {
      sum += patterns[w];
      EXPECT_EQ(distribution.lower_tail(w), std::ldexp(static_cast<double>(sum), -static_cast<int>(n)))
          << "n " << n << ", w " << w;
    }
  }
}

TEST(SignedRank, ReachesFarIntoTheTailAndToManyPairs) {
  EXPECT_EQ(signed_rank(12).critical(0.001), 2u);  // P(W <= 2) = 3 / 4096 = 0.00073
  EXPECT_EQ(signed_rank(12).critical(0.0002), std::nullopt);
  EXPECT_EQ(signed_rank(64).lower_tail(0), std::ldexp(1, -64));
  EXPECT_NEAR(signed_rank(64).lower_tail(64 * 65 / 2), 1.0, 1e-12);
  EXPECT_EQ(signed_rank(64).lower_tail(100000), 1.0);
  // 300 pairs: mean 22575, variance n (n + 1) (2 n + 1) / 24 = 2261262.5; normal within a part in a thousand.
  const double z = (20000 + 0.5 - 22575) / std::sqrt(2261262.5);
  EXPECT_NEAR(signed_rank(300).lower_tail(20000) / normal_cdf(z), 1.0, 0.01);
}

// Hollander and Wolfe, table 3.1 (Hamilton depression scale, nine patients), also R's ?wilcox.test: V = 40,
// p = 10/512 = 0.01953, estimate 0.46, interval (0.01, 0.786) at 96.1 %.
TEST(WalshAverages, EqualTheTextbookExample) {
  const WalshAverages averages({0.952, -0.147, 1.022, 0.430, 0.620, 0.590, 0.490, -0.080, 0.010});
  EXPECT_NEAR(averages.estimate(), 0.46, 1e-12);
  EXPECT_NEAR(*averages.lower_limit(0.02), 0.010, 1e-12);
  EXPECT_NEAR(*averages.upper_limit(0.02), 0.786, 1e-12);
  EXPECT_DOUBLE_EQ(averages.p_above(0), 10.0 / 512);
}

TEST(WalshAverages, OfThreeValuesByHand) {
  // 1, 2, 6: averages 1, 1.5, 2, 3.5, 4, 6.
  const WalshAverages averages({6, 1, 2});
  EXPECT_DOUBLE_EQ(averages.estimate(), 2.75);
  EXPECT_EQ(averages.lower_limit(0.125), 1.0);  // P(W <= 0) = 1/8
  EXPECT_EQ(averages.upper_limit(0.25), 4.0);   // P(W <= 1) = 2/8
  EXPECT_EQ(averages.lower_limit(0.12), std::nullopt);
  EXPECT_DOUBLE_EQ(averages.p_above(0), 0.125);
  EXPECT_DOUBLE_EQ(averages.p_above(1.5), 0.375);  // two averages not above: P(W <= 2)
}

/// The limit is above a shift exactly where the test rejects that shift.
TEST(WalshAverages, LimitsInvertTheTest) {
  Random random(7);
  for (size_t n : {5U, 12U, 30U}) {
    std::vector<double> values;
    for (size_t i = 0; i < n; ++i) values.push_back(random.normal() + 0.5);
    const WalshAverages averages(values);
    for (double shift = -1; shift < 1.5; shift += 0.05) {
      EXPECT_EQ(averages.p_above(shift) <= 0.05, *averages.lower_limit(0.05) > shift) << n << " " << shift;
    }
  }
}

TEST(WalshAverages, ZerosAndTiesNeverHelpAShift) {
  EXPECT_DOUBLE_EQ(WalshAverages({0, 0, 0, 0, 0, 0}).p_above(0), 1.0);
  EXPECT_EQ(WalshAverages(std::vector<double>(12, 0.0)).lower_limit(0.001), 0.0);
  // Every sign pattern of tied and zero values: the test errs no more often than its level.
  const std::vector<double> sizes{0, 0, 1, 1, 1, 2, 2, 3};
  for (const double level : {0.01, 0.05, 0.1}) {
    int rejected = 0;
    for (unsigned signs = 0; signs < 256; ++signs) {
      std::vector<double> values = sizes;
      for (size_t i = 0; i < values.size(); ++i) values[i] *= (signs >> i & 1U) != 0 ? -1 : 1;
      rejected += *WalshAverages(values).lower_limit(level) > 0 ? 1 : 0;
    }
    EXPECT_LE(rejected, 256 * level);
  }
}

TEST(WalshAverages, ShiftWithTheDataAndTurnWithTheSign) {
  const std::vector<double> values{0.3, -1.5, 2.25, 0.75, 4, -0.5, 1};
  std::vector<double> shifted, turned;
  for (const double value : values) {
    shifted.push_back(value + 8);
    turned.push_back(-value);
  }
  EXPECT_DOUBLE_EQ(WalshAverages(shifted).estimate(), WalshAverages(values).estimate() + 8);
  EXPECT_DOUBLE_EQ(*WalshAverages(turned).upper_limit(0.05), -*WalshAverages(values).lower_limit(0.05));
}

TEST(Detection, ClosedFormAtTheFiveLooks) {
  // (3.090232 + 1.281552) sqrt(pi / 3 n), worked out apart.
  const std::vector<std::pair<size_t, double>> factors{
      {12, 1.29146}, {16, 1.11844}, {24, 0.91320}, {40, 0.70736}, {64, 0.55922}};
  for (const auto& [pairs, factor] : factors) {
    EXPECT_NEAR(asymptotic_detection_factor(pairs, 0.001, 0.9), factor, 1e-5);
    EXPECT_EQ(pairs_to_detect(factor * 1.00001, 1, 0.001, 0.9), static_cast<double>(pairs));
    EXPECT_GT(detection_factor(pairs, 0.001, 0.9), factor);  // the closed form is for many pairs
  }
  EXPECT_NEAR(detection_factor(300, 0.001, 0.9) / asymptotic_detection_factor(300, 0.001, 0.9), 1, 0.02);
  EXPECT_NEAR(asymptotic_detection_factor(64, 0.01 / 3, 0.9), 0.511, 5e-4);  // three looks and one gate
  EXPECT_EQ(pairs_to_detect(100, 1, 0.001, 0.9), 1);
  EXPECT_TRUE(std::isinf(detection_factor(9, 0.001, 0.9)));  // 2^-9 is above the level
}

/// The factor keeps its promise on normal pairs: 90 % of samples shifted by c(n) are found.
TEST(Detection, FactorIsWhatNormalPairsNeed) {
  Random random(11);
  for (const size_t pairs : {12U, 24U, 40U}) {
    const double shift = detection_factor(pairs, 0.001, 0.9);
    int found = 0;
    constexpr int kTrials = 600;
    for (int trial = 0; trial < kTrials; ++trial) {
      std::vector<double> values;
      for (size_t i = 0; i < pairs; ++i) values.push_back(random.normal() + shift);
      found += *WalshAverages(values).lower_limit(0.001) > 0 ? 1 : 0;
    }
    EXPECT_NEAR(found / static_cast<double>(kTrials), 0.9, 0.035) << pairs;
  }
}

}  // namespace
}  // namespace flopmark
