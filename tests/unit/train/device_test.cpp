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

TEST(Device, RefusesUnknownNames) {
  for (const char* name : {"gpu", "", "CPU", "cuda:", "cuda:x", "cuda:1x", "cuda:-1", "cuda1"}) {
    EXPECT_EQ(refusal(name),
              std::string("device: unknown \"") + name + "\"; known are auto, cpu, cuda and cuda:N");
  }
}

}  // namespace
}  // namespace flopmark
