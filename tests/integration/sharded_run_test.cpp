// Sharded training with the real worker: its memory, and that what it says adds up.
#include "integration/ranks_run.h"

namespace flopmark::testing {
namespace {

class ShardedRun : public RanksRun {
 protected:
  /// An mlp of about 40 M values in many layers, so that what is sharded is far more than what is not.
  nlohmann::json measure(const std::string& sharding) {
    std::ofstream(folder_ / "tiny.json") << R"({
      "model": { "type": "mlp", "preset": "mlp-784-512-512-10", "hidden_size": 1448, "layers": 20 }, "device": "cpu",
      "data": { "type": "synthetic", "batch_size": 4 },
      "measure": { "warmup_max_steps": 4, "warmup_min_steps": 4, "steps": 8, "repeats": 1, "threads": 1 } })";
    const ProgramResult result =
        run_program(FLOPMARK_PROGRAM, job(2, {"--force", "--set", "parallel.sharding=" + sharding, "--set",
                                              "parallel.bucket_bytes=4194304"}));
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return record();
  }
};

TEST_F(ShardedRun, EachRankHoldsItsShareOfGradientsAndState) {
  const auto whole = measure("none"), sharded = measure("zero2");
  const double parameter_bytes = 4 * whole["parameters"].get<double>();
  ASSERT_GT(parameter_bytes, 80e6);
  for (size_t rank = 0; rank < 2; ++rank) {
    // Whole: parameters, gradients, buckets, two moments. Two shares: of gradients and moments a half each,
    // and a bucket or two.
    const double saved_bytes = whole["ranks"][rank]["memory_peak_bytes"].get<double>() -
                               sharded["ranks"][rank]["memory_peak_bytes"].get<double>();
    EXPECT_GT(saved_bytes, parameter_bytes) << rank;
  }
  EXPECT_EQ(sharded["communication"]["collective"], "reduce_scatter+all_gather");
  EXPECT_NEAR(sharded["communication"]["bytes_per_step"].get<double>(), 2 * parameter_bytes, 1e4);
  EXPECT_NEAR(whole["communication"]["bytes_per_step"].get<double>(), parameter_bytes, 1e4);
}

}  // namespace
}  // namespace flopmark::testing
