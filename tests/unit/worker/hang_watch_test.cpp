#include "worker/hang_watch.h"

#include <gtest/gtest.h>

#include <atomic>

namespace flopmark {
namespace {

using namespace std::chrono_literals;

/// A rank in timed step 7, whose leaving is counted instead.
struct WatchedRank {
  WatchedRank() {
    state.stage = LoopState::Stage::timed;
    state.step = 7;
  }
  HangWatch::Options options(std::chrono::duration<double> grace = 10ms) {
    return {.patience = 200ms,
            .grace = grace,
            .given_up = [this]() -> std::optional<Failure> {
              ++asked;
              if (!is_given_up) return std::nullopt;
              return Failure{"timeout", "timed", 7, "stood still"};
            },
            .leave = [this](const Failure& failure) { left += failure.step == 7 ? 1 : 100; }};
  }
  bool leaves_within(std::chrono::milliseconds time) const {
    for (auto waited = 0ms; waited < time && left == 0; waited += 5ms) std::this_thread::sleep_for(5ms);
    return left > 0;
  }

  LoopState state;
  std::atomic<bool> is_given_up{true};
  std::atomic<int> asked{0}, left{0};
};

TEST(HangWatch, OneThatStandsStillLeavesOnceItIsGivenUp) {
  WatchedRank rank;
  rank.is_given_up = false;
  const HangWatch watch(rank.state, rank.options());
  EXPECT_FALSE(rank.leaves_within(600ms)) << "nobody has given it up";
  EXPECT_GT(rank.asked, 0);
  rank.is_given_up = true;
  EXPECT_TRUE(rank.leaves_within(10s));
  EXPECT_LT(rank.left, 100);
}

TEST(HangWatch, OneThatGetsOnAsksNobody) {
  WatchedRank rank;
  const HangWatch watch(rank.state, rank.options());
  for (int step = 0; step < 100; ++step) {
    ++rank.state.step;
    std::this_thread::sleep_for(5ms);
  }
  EXPECT_EQ(rank.asked, 0);
  EXPECT_EQ(rank.left, 0);
}

TEST(HangWatch, OneThatEndsWithinTheGraceIsLeftAlone) {
  WatchedRank rank;
  {
    const HangWatch watch(rank.state, rank.options(60s));
    for (int tries = 0; tries < 2000 && rank.asked == 0; ++tries) std::this_thread::sleep_for(5ms);
  }
  EXPECT_GT(rank.asked, 0);
  EXPECT_EQ(rank.left, 0);
}

}  // namespace
}  // namespace flopmark
