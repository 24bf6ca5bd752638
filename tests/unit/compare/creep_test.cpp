// Many small losses, each within what two sittings of one build can differ by.
#include <gmock/gmock.h>

#include <cmath>

#include "compare/stored_comparison.h"
#include "unit/compare/compared_records.h"

namespace flopmark {
namespace {

/// On a machine whose A/A sittings differ by up to 2 %.
CompareOptions calibrated() {
  CompareOptions options;
  const std::vector<double> sittings{0.01, -0.01, 0.02, -0.02, 0.005, -0.005, 0.01, -0.015};
  options.sittings = {sittings, sittings, sittings};
  return options;
}

/// What check says after each of ten losses of 0.8 %, every one saved as the baseline.
struct Creep {
  std::vector<Verdict> by_baseline, by_anchor;

  Creep() {
    for (int loss = 1; loss <= 10; ++loss) {
      const RunRecord before = steady_record(std::pow(1.008, loss - 1));
      const RunRecord now = steady_record(std::pow(1.008, loss));
      by_baseline.push_back(compare_records(before, now, calibrated()).verdict);
      by_anchor.push_back(compare_records(steady_record(), now, calibrated()).verdict);
    }
  }
};

TEST(Creep, TheBaselineThatFollowsSeesNothing) {
  EXPECT_THAT(Creep().by_baseline, testing::Each(Verdict::same));
}

TEST(Creep, TheAnchorCatchesItAtTheSixthLoss) {
  const std::vector<Verdict> verdicts = Creep().by_anchor;
  EXPECT_EQ(verdicts[4], Verdict::same) << "4.1 %, of a tolerance of 3 x 1.4826 % (MAD)";
  for (size_t loss = 5; loss < verdicts.size(); ++loss) EXPECT_EQ(verdicts[loss], Verdict::slower) << loss;
}

TEST(Creep, UncalibratedItIsCaughtWhenItIsLarge) {
  EXPECT_EQ(compare_records(steady_record(), steady_record(std::pow(1.008, 10))).verdict, Verdict::same);
  EXPECT_EQ(compare_records(steady_record(), steady_record(std::pow(1.008, 13))).verdict, Verdict::unsure);
  EXPECT_EQ(compare_records(steady_record(), steady_record(std::pow(1.008, 29))).verdict, Verdict::slower);
}

}  // namespace
}  // namespace flopmark
