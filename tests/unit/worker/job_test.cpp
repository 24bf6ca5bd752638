#include "worker/job.h"

#include <gtest/gtest.h>

#include "flopmark/error.h"

namespace flopmark {
namespace {

/// Whether batch norm can run on data of so many images, in batches of 4 on each rank.
bool runs(int64_t samples, int64_t ranks, bool drop_last = false) {
  RunConfig config;
  config.model.type = "resnet";
  config.model.image_size = config.data.image_size = 32;
  config.data.batch_size = 4;
  config.data.drop_last = drop_last;
  try {
    check_batch_norm(config, samples, ranks);
    return true;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return false;
  }
}

TEST(BatchNorm, TheLastBatchIsEachRanksShareOfTheRest) {
  EXPECT_FALSE(runs(9, 1));
  EXPECT_TRUE(runs(10, 1));
  EXPECT_FALSE(runs(10, 2)) << "one image each";
  EXPECT_FALSE(runs(11, 2)) << "one image each, one is left over";
  EXPECT_TRUE(runs(9, 2)) << "less than one each: no batch";
  EXPECT_TRUE(runs(12, 2));
  EXPECT_TRUE(runs(10, 2, /*drop_last=*/true));
}

}  // namespace
}  // namespace flopmark
