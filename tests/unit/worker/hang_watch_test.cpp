#include "worker/hang_watch.h"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <thread>

namespace flopmark {
namespace {

using namespace std::chrono_literals;

/// Waits for at most 10 s.
bool soon(const std::function<bool()>& is_so) {
  for (int tries = 0; tries < 2000 && !is_so(); ++tries) std::this_thread::sleep_for(5ms);
  return is_so();
}

/// A rank in timed step 7, whose leaving is counted instead.
struct WatchedRank {
  WatchedRank() {
    state.stage = LoopState::Stage::timed;
    state.step = 7;
  }
  HangWatch::Options options(std::chrono::duration<double> grace = 10ms,
                             std::chrono::duration<double> patience = 200ms) {
    return {.patience = patience,
            .grace = grace,
            .given_up = [this]() -> std::optional<Failure> {
              ++asked;
              if (!is_given_up) return std::nullopt;
              return Failure{"timeout", "timed", 7, "stood still"};
            },
            .leave = [this](const Failure& failure) { left += failure.step == 7 ? 1 : 100; }};
  }
  LoopState state;
  std::atomic<bool> is_given_up{true};
  std::atomic<int> asked{0}, left{0};
};

TEST(HangWatch, OneThatStandsStillLeavesOnceItIsGivenUp) {
  WatchedRank rank;
  rank.is_given_up = false;
  const HangWatch watch(rank.state, rank.options());
  EXPECT_TRUE(soon([&] { return rank.asked > 2; }));
  EXPECT_EQ(rank.left, 0) << "nobody has given it up";
  rank.is_given_up = true;
  EXPECT_TRUE(soon([&] { return rank.left > 0; }));
  EXPECT_LT(rank.left, 100);
}

// The others' last words may come in the meantime.
TEST(HangWatch, WhatItIsIsAskedAgainAfterTheGrace) {
  WatchedRank rank;
  HangWatch::Options options = rank.options();
  options.given_up = [&] {
    return std::optional(Failure{"timeout", "timed", ++rank.asked == 1 ? 1 : 7, ""});
  };
  const HangWatch watch(rank.state, options);
  EXPECT_TRUE(soon([&] { return rank.left > 0; }));
  EXPECT_LT(rank.left, 100) << "the first answer";
}

TEST(HangWatch, OneThatGetsOnAsksNobody) {
  WatchedRank rank;
  const HangWatch watch(rank.state, rank.options(10ms, 2s));  // more than a busy machine holds up a thread
  const auto begin = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() - begin < 3s) {
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
    EXPECT_TRUE(soon([&] { return rank.asked > 0; }));
  }
  EXPECT_EQ(rank.left, 0);
}

}  // namespace
}  // namespace flopmark
