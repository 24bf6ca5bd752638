#include <ATen/Context.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "flopmark/error.h"
#include "train/torch_step.h"

namespace flopmark {
namespace {

using ::testing::HasSubstr;

std::string refusal(const std::string& name) {
  try {
    return "accepted: " + resolve_device(name).str();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return error.what();
  }
}

TEST(Device, ResolvesWhatIsHere) {
  EXPECT_EQ(resolve_device("cpu"), torch::Device(torch::kCPU));
  const bool gpu = at::getNumGPUs() > 0;
  EXPECT_EQ(resolve_device("auto"), gpu ? torch::Device(torch::kCUDA, 0) : torch::Device(torch::kCPU));
  if (gpu) {
    EXPECT_EQ(resolve_device("cuda"), torch::Device(torch::kCUDA, 0));
  }
}

TEST(Device, SaysWhatWasFoundInsteadOfAnAbsentOne) {
  const auto text = refusal("cuda:99");
  EXPECT_THAT(text, HasSubstr("device: \"cuda:99\", but "));
  if (at::getNumGPUs() == 0) {
    EXPECT_THAT(text, HasSubstr("CUDA"));
    EXPECT_THAT(text, HasSubstr("use cpu or auto"));
    EXPECT_THAT(refusal("cuda"), HasSubstr("device: \"cuda\", but "));
  } else {
    EXPECT_THAT(text, HasSubstr(" here, the first is cuda:0"));
  }
}

TEST(Device, ARankTakesTheGpuOfItsNumberOrTheOnlyOneItIsShown) {
  RankPlace place;
  place.rank = place.local_rank = 1;
  place.ranks = place.local_ranks = 2;
  place.master_address = "host0";
  EXPECT_EQ(gpu_of_rank(place, 2), 1);
  EXPECT_EQ(gpu_of_rank(place, 8), 1);
  EXPECT_EQ(gpu_of_rank(place, 1), 0) << "a launcher shows each process its own";
  EXPECT_EQ(gpu_of_rank(place, 0), std::nullopt);
  place.local_ranks = 3;
  EXPECT_EQ(gpu_of_rank(place, 2), std::nullopt);
  place.meeting_file = "meeting";  // workers of flopmark's own all see the same
  EXPECT_EQ(gpu_of_rank(place, 1), std::nullopt);
}

TEST(Device, RefusesUnknownNames) {
  for (const char* name : {"gpu", "", "CPU", "cuda:", "cuda:x", "cuda:1x", "cuda:-1", "cuda1"}) {
    EXPECT_EQ(refusal(name),
              std::string("device: unknown \"") + name + "\"; known are auto, cpu, cuda and cuda:N");
  }
}

}  // namespace
}  // namespace flopmark
