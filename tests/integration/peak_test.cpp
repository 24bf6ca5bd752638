// The peak of this CPU: measured by the real worker, then used by a run with the same threads, and by no
// other.
#include <gmock/gmock.h>

#include "integration/tiny_run.h"

namespace flopmark::testing {
namespace {

using ::testing::HasSubstr;

class MeasuredPeakRun : public TinyRun {
 protected:
  ProgramResult peak(std::vector<std::string> arguments) const {
    ProgramOptions options = command({});
    arguments.insert(arguments.begin(), {"peak"});
    options.arguments = std::move(arguments);
    return run_program(FLOPMARK_PROGRAM, options);
  }
};

TEST_F(MeasuredPeakRun, IsMfusDenominator) {
  const ProgramResult measured = peak({"--measure", "--quiet", "--seconds", "2", "--threads", "1",
                                       "--precision", "fp32", "--device", "cpu", "--format", "json"});
  ASSERT_EQ(measured.exit_code, 0) << measured.err;
  const nlohmann::json found = nlohmann::json::parse(measured.out).at("peaks").at(0);
  const double flop_per_s = found.at("flop_per_s");
  EXPECT_GT(flop_per_s, 1e8);
  EXPECT_GE(found.at("spread_ratio").get<double>(), 1);
  EXPECT_GE(found.at("blocks").get<int>(), 5);

  ASSERT_EQ(run().exit_code, 0);
  EXPECT_EQ(record()["peak"]["source"], "measured");
  EXPECT_EQ(record()["peak"]["flop_per_s"].get<double>(), flop_per_s);
  EXPECT_TRUE(record()["metrics"]["mfu_ratio"].is_number());

  const ProgramResult other = run({"--set", "measure.threads=2", "--force"});
  ASSERT_EQ(other.exit_code, 0) << other.err;
  EXPECT_TRUE(record()["metrics"]["mfu_ratio"].is_null());
  EXPECT_THAT(record()["peak"]["reason"].get<std::string>(),
              HasSubstr("flopmark peak --measure --threads 2"));
}

TEST_F(MeasuredPeakRun, WhatIsNotHereIsRefused) {
  const ProgramResult precision = peak({"--measure", "--quiet", "--precision", "fp8", "--device", "cpu"});
  EXPECT_EQ(precision.exit_code, 200);
  EXPECT_THAT(precision.err, HasSubstr("known are fp64 fp32 bf16 fp16"));
  EXPECT_EQ(peak({"--measure", "--quiet", "--device", "tpu"}).exit_code, 200);
}

}  // namespace
}  // namespace flopmark::testing
