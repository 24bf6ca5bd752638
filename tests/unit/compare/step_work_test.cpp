#include "compare/step_work.h"

#include <gtest/gtest.h>

#include <cmath>

#include "fakes/fake_pairs.h"

namespace flopmark {
namespace {

LaunchSamples launch(int64_t samples, int64_t tokens) {
  LaunchSamples made;
  made.timed.step_s = {0.1, 0.1, 0.1, 0.1};
  made.timed.samples = samples;
  made.timed.tokens = tokens;
  return made;
}

TEST(StepWork, IsInTokensWhereBothReadThem) {
  const auto work = differing_work(launch(8, 256), launch(8, 512));  // longer sequences
  ASSERT_TRUE(work);
  EXPECT_STREQ(work->unit, "tokens");
  EXPECT_DOUBLE_EQ(work->a, 64);
  EXPECT_DOUBLE_EQ(work->b, 128);
  EXPECT_EQ(step_work_note(*work),
            "a step is 64 tokens in A, 128 in B: the changes are those of the time per token");
  EXPECT_STREQ(differing_work(launch(8, 256), launch(16, 0))->unit, "samples");
}

TEST(StepWork, EqualOrUnknownWorkNeedsNoCorrection) {
  EXPECT_FALSE(differing_work(launch(8, 256), launch(4, 256)));
  EXPECT_FALSE(differing_work(launch(8, 0), launch(8, 0)));
  EXPECT_FALSE(differing_work(launch(8, 0), launch(0, 0)));
}

TEST(StepWork, TwiceTheWorkInTwiceTheTimeIsNoChange) {
  const StepWork work{"samples", 2, 4};
  const PairRatios per_sample = work.per_unit({std::log(2), std::log(2.2), std::log(1), std::log(4)});
  EXPECT_NEAR(per_sample.throughput, 0, 1e-15);
  EXPECT_NEAR(per_sample.typical, std::log(1.1), 1e-15);
  EXPECT_NEAR(per_sample.floor, -std::log(2), 1e-15);
  EXPECT_NEAR(per_sample.median_step.value(), std::log(2), 1e-15);
}

}  // namespace
}  // namespace flopmark
