#include "worker/describe_failure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

namespace flopmark {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

template <typename Work>
Failure failure_of(Work work) {
  LoopState state;
  state.stage.store(LoopState::Stage::timed);
  state.step.store(7);
  try {
    work();
  } catch (const std::exception& error) {
    return describe_failure(error, state);
  }
  return failure_at(state, "none", "nothing was thrown");
}

TEST(DescribeFailure, SaysWhereAndLeavesTheStackTraceOut) {
  const Failure failure = failure_of([] { torch::matmul(torch::ones({2, 3}), torch::ones({2, 3})); });
  EXPECT_EQ(failure.kind, "error");
  EXPECT_EQ(failure.phase, "timed");
  EXPECT_EQ(failure.step, 7);
  EXPECT_THAT(failure.text, AllOf(HasSubstr("mat1 and mat2 shapes"), Not(HasSubstr("raised from"))));
}

TEST(DescribeFailure, ALabelThatIsNoClassIsSaidToBeOne) {
  const Failure failure = failure_of([] {
    torch::nn::functional::cross_entropy(torch::ones({2, 3}), torch::tensor({1, 5}));
  });
  EXPECT_EQ(failure.kind, "error");
  EXPECT_THAT(failure.text,
              AllOf(HasSubstr("Target 5 is out of bounds"), HasSubstr("no class of the model")));
}

}  // namespace
}  // namespace flopmark
