#include "worker/lost_collectives.h"

#include <c10/util/Exception.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <stdexcept>
#include <thread>

namespace flopmark {
namespace {

/// Ends the process as a thread that nobody waits for does.
template <typename Throw>
void end_by(Throw thrower) {
  const LostCollectives watched([](const std::exception&) { std::fputs("reported", stderr); });
  std::thread([&] { thrower(); }).join();
}

TEST(LostCollectivesDeathTest, AWatchdogsExceptionIsReported) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(end_by([] { TORCH_CHECK_WITH(DistBackendError, false, "a rank is gone"); }),
              ::testing::ExitedWithCode(125), "reported");
  EXPECT_EXIT(end_by([] { throw std::runtime_error("[PG 0] ProcessGroupNCCL's watchdog"); }),
              ::testing::ExitedWithCode(125), "reported");
}

TEST(LostCollectivesDeathTest, OtherExceptionsEndTheProcessAsBefore) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_DEATH(end_by([] { throw std::runtime_error("a fault of its own"); }), "a fault of its own");
}

}  // namespace
}  // namespace flopmark
