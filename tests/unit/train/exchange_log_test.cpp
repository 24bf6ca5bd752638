#include "train/exchange_log.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace flopmark {
namespace {

void wait_ms(int64_t ms) {
  std::this_thread::sleep_for(std::chrono::milliseconds(ms));
}

TEST(ExchangeLog, TwoThatOverlapCountOnce) {
  ExchangeLog log(torch::kCPU);
  log.reserve(1, 2);
  log.begin_step();
  wait_ms(20);
  const size_t first = log.begin_collective();
  wait_ms(20);
  const size_t second = log.begin_collective();
  wait_ms(20);
  log.end_collective(first);
  wait_ms(20);
  log.end_collective(second);
  const auto times = log.read(1);
  EXPECT_EQ(log.collectives_in_step(), 2);
  EXPECT_NEAR(times.compute_s[0], 0.040, 0.012);
  EXPECT_NEAR(times.total_s[0], 0.060, 0.015);
  EXPECT_NEAR(times.in_backward_s[0], 0.040, 0.012);
  EXPECT_EQ(times.in_update_s[0], 0);
}

TEST(ExchangeLog, WaitsBeforeTheLastAreExposedAndNoCompute) {
  ExchangeLog log(torch::kCPU);
  log.reserve(1, 3);
  log.begin_step();
  const size_t first = log.begin_collective();
  wait_ms(10);
  log.begin_wait();
  wait_ms(30);
  log.end_wait();
  log.end_collective(first);
  const size_t last = log.begin_collective();
  wait_ms(10);
  log.end_collective(last);
  const size_t after = log.begin_collective(/*in_update=*/true);
  wait_ms(20);
  log.end_collective(after);
  const auto times = log.read(1);
  EXPECT_NEAR(times.compute_s[0], 0.010, 0.008);
  EXPECT_NEAR(times.in_backward_s[0], 0.040, 0.012);
  EXPECT_NEAR(times.in_update_s[0], 0.020, 0.010);
  EXPECT_NEAR(times.total_s[0], 0.070, 0.016);
}

TEST(ExchangeLog, OwnWorkAfterBackwardIsCompute) {
  ExchangeLog log(torch::kCPU);
  log.reserve(1, 2);
  log.begin_step();
  wait_ms(10);
  const size_t first = log.begin_collective();
  wait_ms(30);
  log.end_collective(first);
  log.begin_wait();  // of the norm for clipping
  wait_ms(30);
  log.end_wait();
  wait_ms(20);
  const size_t after = log.begin_collective(/*in_update=*/true);
  wait_ms(30);
  log.end_collective(after);
  wait_ms(10);
  log.end_step();
  EXPECT_NEAR(log.read(1).compute_s[0], 0.040, 0.016);
}

TEST(ExchangeLog, MoreThanThereIsRoomForAreCountedAndNotNoted) {
  ExchangeLog log(torch::kCPU);
  log.reserve(2, 1);
  log.begin_step();
  log.end_collective(log.begin_collective());
  log.end_collective(log.begin_collective());
  EXPECT_EQ(log.collectives_in_step(), 2);
  log.begin_step();
  EXPECT_EQ(log.collectives_in_step(), 0);
  const auto times = log.read(2);
  EXPECT_EQ(times.total_s[1], 0);
  EXPECT_EQ(times.compute_s[1], 0);
}

}  // namespace
}  // namespace flopmark
