#include <gmock/gmock.h>

#include <limits>

#include "results/record_file.h"
#include "unit/results/example_launch.h"
#include "unit/results/scratch_tree.h"

namespace flopmark {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;

/// A clean run on a device with a peak of `peak_flop_per_s`.
RecordInputs example_inputs(double peak_flop_per_s) {
  RecordInputs inputs;
  inputs.config.name = "tiny";
  inputs.config.model.type = "mlp";
  inputs.config.peak_flop_per_s = peak_flop_per_s;
  inputs.launches = example_launches();
  inputs.subject.commit = std::string(40, 'a');
  inputs.subject.dirty = false;
  inputs.host.cpu_model = "Test CPU";
  inputs.command_line = {"flopmark", "run", "tiny.json"};
  return inputs;
}

std::vector<std::string> codes(const RunRecord& record) {
  std::vector<std::string> result;
  for (const auto& warning : record.warnings) result.push_back(warning.code);
  return result;
}

/// 44,826,624 FLOP in 0.1 s on 1 GFLOP/s: 44.8 %.
TEST(AssembleRecord, OfACleanRun) {
  const RunRecord record = assemble_record(example_inputs(1e9));
  EXPECT_EQ(record.status, "ok");
  EXPECT_TRUE(record.warnings.empty());
  EXPECT_EQ(record.name, "tiny");
  EXPECT_EQ(record.flopmark_version, FLOPMARK_TEST_VERSION);
  EXPECT_THAT(record.time, MatchesRegex("20[0-9][0-9]-[01][0-9]-[0-3][0-9]T[0-9:]{8}\\.[0-9]{3}Z"));
  EXPECT_EQ(record.command_line.size(), 3U);
  EXPECT_EQ(record.config["model"]["type"], "mlp");
  EXPECT_EQ(record.environment.cpu_model, "Test CPU");
  EXPECT_EQ(record.environment.device_name, "Test Device 1");
  EXPECT_EQ(record.parameters, 125248);
  EXPECT_EQ(record.attention_kernel, "fused");
  EXPECT_EQ(record.peak.source, "by_hand");
  EXPECT_EQ(record.peak.precision, "bf16");
  EXPECT_NEAR(record.metrics.values.at("mfu_ratio").value(), 0.44826624, 1e-9);
  EXPECT_NEAR(record.metrics.values.at("hfu_ratio").value(), 0.45350912, 1e-9);
  EXPECT_NEAR(record.phases->backward_s, 0.05, 1e-12);
  EXPECT_FALSE(record.failure.has_value());
}

TEST(AssembleRecord, KeepsTheRulerAndDoubtsDataAndMachine) {
  RecordInputs inputs = example_inputs(1e9);
  for (auto& launch : inputs.launches) {
    launch.ruler = Ruler{1000, 64, {1.0, 1.2}, {0.5, 0.5}};
    launch.zero_inputs = true;
    launch.environment.sanitizers = "address";
  }
  const RunRecord record = assemble_record(inputs);
  ASSERT_TRUE(record.ruler);
  EXPECT_EQ(record.ruler->matmul_s.size(), 10U);
  EXPECT_THAT(codes(record), testing::ElementsAre("zero_inputs", "sanitizer_build", "ruler_moved"));
}

TEST(AssembleRecord, RepeatsHoldStepsBlocksAndLosses) {
  RecordInputs inputs = example_inputs(1e9);
  for (size_t i = 0; i < 5; ++i) inputs.launches[0].timed.step_s[i] = 0.2;
  inputs.launches[0].timed.losses.back() = std::numeric_limits<double>::quiet_NaN();
  const RunRecord record = assemble_record(inputs);
  ASSERT_EQ(record.repeats.size(), 5U);
  const Repeat& repeat = record.repeats[0];
  EXPECT_EQ(repeat.steps, 40);
  EXPECT_EQ(repeat.tokens, 2560);
  EXPECT_EQ(repeat.step_s.size(), 40U);
  ASSERT_EQ(repeat.block_means_s.size(), 8U) << "40 steps in blocks of 5";
  EXPECT_DOUBLE_EQ(repeat.block_means_s[0], 0.2);
  EXPECT_DOUBLE_EQ(repeat.block_means_s[1], 0.1);
  EXPECT_EQ(repeat.loss_first, 5.5);
  EXPECT_EQ(repeat.loss_last, std::nullopt);
}

/// 1003 steps make 20 blocks of 50 or 51; every step is in one of them.
TEST(AssembleRecord, ManyStepsMakeTwentyBlocks) {
  RecordInputs inputs = example_inputs(1e9);
  auto& step_s = inputs.launches[0].timed.step_s;
  step_s.assign(1003, 1.0);
  step_s.back() = 52.0;
  const auto blocks = assemble_record(inputs).repeats[0].block_means_s;
  ASSERT_EQ(blocks.size(), 20U);
  EXPECT_DOUBLE_EQ(blocks[0], 1.0);
  EXPECT_DOUBLE_EQ(blocks[19], 2.0) << "51 steps: 50 of 1 and one of 52";
}

TEST(AssembleRecord, PeakOfTheTableFollowsTheMatmuls) {
  RecordInputs inputs = example_inputs(1);
  inputs.config.peak_flop_per_s.reset();
  inputs.launches[0].environment.device_name = "NVIDIA H200";
  EXPECT_EQ(assemble_record(inputs).peak.flop_per_s, 989.4e12);
  inputs.launches[0].matmul_precision = "tf32";
  EXPECT_EQ(assemble_record(inputs).peak.flop_per_s, 494.7e12);
}

/// 40 of 45 MFLOP in bf16 at 989.4 and 5 in fp32 at 66.9 TFLOP/s: 45 / (40 / 989.4 + 5 / 66.9) = 390.8
/// TFLOP/s.
TEST(AssembleRecord, PeakOfMixedWorkIsWhatWasCounted) {
  RecordInputs inputs = example_inputs(1);
  inputs.config.peak_flop_per_s.reset();
  inputs.launches[0].environment.device_name = "NVIDIA H200";
  inputs.launches[0].flops->by_precision = {{"bf16", 40'000'000, 40'000'000}, {"fp32", 5'000'000, 5'000'000}};
  const Peak mixed = assemble_record(inputs).peak;
  EXPECT_NEAR(mixed.flop_per_s.value(), 390.74e12, 0.01e12);
  EXPECT_EQ(mixed.precision, "bf16+fp32");
  EXPECT_THAT(mixed.derivation.value(), HasSubstr("bf16 88.9 % at 989.4 TFLOP/s"));
  inputs.launches[0].flops->by_precision = {{"tf32", 45'000'000, 45'000'000}};
  EXPECT_EQ(assemble_record(inputs).peak.flop_per_s, 494.7e12) << "what ran goes before what was configured";
}

TEST(AssembleRecord, TheRowIsHeldAgainstTheDeviceItSitsOn) {
  RecordInputs inputs = example_inputs(1);
  inputs.config.peak_flop_per_s.reset();
  inputs.launches[0].environment.device_name = "NVIDIA H200";
  inputs.launches[0].environment.sm_count = 132;
  inputs.launches[0].environment.sm_clock_hz = 1980e6;
  EXPECT_TRUE(assemble_record(inputs).warnings.empty());
  inputs.launches[0].environment.sm_clock_hz = 1500e6;
  EXPECT_EQ(codes(assemble_record(inputs)), std::vector<std::string>{"peak_clock"});
  inputs.launches[0].environment.sm_count = 66;
  const RunRecord half = assemble_record(inputs);
  EXPECT_EQ(half.metrics.values.at("mfu_ratio"), std::nullopt);
  EXPECT_THAT(half.peak.reason.value(), HasSubstr("66 SMs here"));
  EXPECT_EQ(half.environment.sm_count, 66);
}

/// 448 MFLOP/s of a measured 1 GFLOP/s are fine; of a measured 0.4 they are not, and the text says how that
/// peak was measured.
TEST(AssembleRecord, AMeasuredPeakOfTheSameThreadsIsUsed) {
  RecordInputs inputs = example_inputs(1);
  inputs.config.peak_flop_per_s.reset();
  inputs.launches[0].environment.threads = 2;
  MeasuredPeak measured;
  measured.device = "Test Device 1";
  measured.threads = 2;
  measured.precision = "bf16";
  measured.flop_per_s = 1e9;
  measured.m = 512;
  inputs.peaks.measured = {measured};
  EXPECT_NEAR(assemble_record(inputs).metrics.values.at("mfu_ratio").value(), 0.44826624, 1e-9);
  EXPECT_EQ(assemble_record(inputs).peak.source, "measured");
  inputs.peaks.measured[0].flop_per_s = 4e8;
  const RunRecord record = assemble_record(inputs);
  EXPECT_EQ(record.status, "invalid");
  EXPECT_THAT(record.warnings[0].text, HasSubstr("matmul 512 x"));
  EXPECT_THAT(record.warnings[0].text, HasSubstr("measure again with flopmark peak --measure"));
  inputs.launches[0].environment.threads = 1;
  EXPECT_EQ(assemble_record(inputs).peak.source, "none");
}

TEST(AssembleRecord, UnknownDeviceHasNoMfuAndIsOk) {
  RecordInputs inputs = example_inputs(1);
  inputs.config.peak_flop_per_s.reset();
  const RunRecord record = assemble_record(inputs);
  EXPECT_EQ(record.status, "ok");
  EXPECT_EQ(record.metrics.values.at("mfu_ratio"), std::nullopt);
  EXPECT_THAT(record.peak.reason.value(), HasSubstr("Test Device 1"));
}

/// A peak by hand far too low: 112 %.
TEST(AssembleRecord, MfuOverOneIsInvalid) {
  const RunRecord record = assemble_record(example_inputs(4e8));
  EXPECT_EQ(record.status, "invalid");
  ASSERT_EQ(codes(record), std::vector<std::string>{"not_believable"});
  EXPECT_THAT(record.warnings[0].text, HasSubstr("MFU 112.1 %"));
  EXPECT_THAT(record.warnings[0].text, HasSubstr("source by_hand"));
}

/// 44,826,624 < 45e6 < 45,350,912 FLOP: only HFU is over 1.
TEST(AssembleRecord, HfuOverOneAloneIsInvalid) {
  const RunRecord record = assemble_record(example_inputs(4.5e8));
  EXPECT_LT(record.metrics.values.at("mfu_ratio").value(), 1.0);
  EXPECT_EQ(record.status, "invalid");
}

TEST(AssembleRecord, FailedHasNoMetrics) {
  RecordInputs inputs = example_inputs(1e9);
  inputs.failure = Failure{"nan_loss", "timed", 7, "loss is nan"};
  const RunRecord record = assemble_record(inputs);
  EXPECT_EQ(record.status, "failed");
  EXPECT_EQ(record.failure->step, 7);
  EXPECT_FALSE(record.metrics.step_s.has_value());
  EXPECT_FALSE(record.phases.has_value());
  EXPECT_FALSE(record.metrics.values.empty());
  for (const auto& [key, value] : record.metrics.values) EXPECT_FALSE(value.has_value()) << key;
}

TEST(AssembleRecord, AFailedLaunchFailsTheRun) {
  RecordInputs inputs = example_inputs(1e9);
  inputs.launches[2].status = "failed";
  EXPECT_EQ(assemble_record(inputs).status, "failed");
  inputs.launches[2].failure = Failure{"out_of_memory", "warmup", 1, "4 GiB"};
  EXPECT_EQ(assemble_record(inputs).failure->kind, "out_of_memory");
}

TEST(AssembleRecord, NothingMeasuredIsAFailure) {
  RecordInputs inputs = example_inputs(1e9);
  inputs.launches.clear();
  EXPECT_EQ(assemble_record(inputs).status, "failed");
  inputs.launches = {LaunchSamples{}};
  EXPECT_EQ(assemble_record(inputs).status, "failed");
  EXPECT_THAT(assemble_record(inputs).failure->text, HasSubstr("no step was timed"));
}

TEST(AssembleRecord, InterruptedKeepsWhatWasMeasured) {
  RecordInputs inputs = example_inputs(1e9);
  inputs.interrupted = true;
  inputs.launches.resize(2);
  inputs.launches.push_back(LaunchSamples{});
  inputs.launches.back().status = "incomplete";
  const RunRecord record = assemble_record(inputs);
  EXPECT_EQ(record.status, "incomplete");
  EXPECT_NEAR(record.metrics.step_s->mean, 0.1, 1e-12);
  EXPECT_EQ(record.repeats.size(), 3U);
  inputs.launches.clear();
  EXPECT_EQ(assemble_record(inputs).status, "incomplete");
  EXPECT_FALSE(assemble_record(inputs).metrics.step_s.has_value());
}

TEST(AssembleRecord, WarmupIsThatOfTheLongestLaunch) {
  RecordInputs inputs = example_inputs(1e9);
  inputs.launches[1].warmup = {{0.9, 0.1, 0.1, 0.1, 0.1}, true, "longest"};
  EXPECT_EQ(assemble_record(inputs).warmup->steps, 5);
  EXPECT_EQ(assemble_record(inputs).warmup->first_step_s, 0.9);
  EXPECT_EQ(assemble_record(inputs).warmup->reason, "longest");
  EXPECT_TRUE(assemble_record(inputs).warmup->steady);
  inputs.launches[0].warmup.steady = false;
  inputs.launches[0].warmup.reason = "falling";
  const auto warmup = assemble_record(inputs).warmup;
  EXPECT_EQ(warmup->steps, 5);
  EXPECT_FALSE(warmup->steady);
  EXPECT_EQ(warmup->reason, "falling");
}

TEST(AssembleRecord, DirtyTreeIsWarnedOf) {
  RecordInputs inputs = example_inputs(1e9);
  inputs.subject.dirty = true;
  EXPECT_EQ(codes(assemble_record(inputs)), std::vector<std::string>{"dirty_tree"});
}

TEST(AssembleRecord, PathsInTheStoreAreRelativeToIt) {
  const ScratchFolder store, elsewhere;
  RecordInputs inputs = example_inputs(1e9);
  inputs.config.model.type = "llama";
  inputs.config.data.type = "tokens";
  inputs.store_root = store.root();
  inputs.config.data.path = store.write("data/corpus.bin", "x").string();
  inputs.launches[0].data.path = inputs.config.data.path;
  RunRecord record = assemble_record(inputs);
  EXPECT_EQ(record.config["data"]["path"], "data/corpus.bin");
  EXPECT_EQ(record.data.path, "data/corpus.bin");
  inputs.config.data.path = elsewhere.write("corpus.bin", "x").string();
  record = assemble_record(inputs);
  EXPECT_EQ(record.config["data"]["path"], inputs.config.data.path);
}

TEST(AssembleRecord, ThePathOfAModelIsRelativeToTheStoreToo) {
  const ScratchFolder store;
  RecordInputs inputs = example_inputs(1e9);
  inputs.config.model = {.type = "torchscript", .preset = ""};
  inputs.store_root = store.root();
  inputs.config.model.torchscript = store.write("models/m.pt", "x").string();
  EXPECT_EQ(assemble_record(inputs).config["model"], (nlohmann::json{{"torchscript", "models/m.pt"}}));
}

}  // namespace
}  // namespace flopmark
