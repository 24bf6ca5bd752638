// The main job on the real worker: what is counted, what adds up, what is refused before training.
#include <gmock/gmock.h>

#include <map>
#include <numeric>

#include "integration/tiny_run.h"

namespace flopmark::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST_F(TinyRun, CountsTheTinyLlamaExactly) {
  const ProgramResult result = run();
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const nlohmann::json record = this->record();
  const nlohmann::json& flops = record["flops"];
  EXPECT_EQ(record["status"], "ok");
  EXPECT_EQ(record["parameters"], 125248);
  EXPECT_EQ(flops["forward_flop"], 14942208);
  EXPECT_EQ(flops["backward_flop"], 29884416);
  EXPECT_EQ(flops["model_flop"], 44826624);
  EXPECT_EQ(flops["hardware_flop"], 45350912);
  EXPECT_EQ(flops["recompute_flop"], 0);
  EXPECT_EQ(flops["lower_bound"], false);
  EXPECT_EQ(record["repeats"][0]["samples"], 40);
  EXPECT_EQ(record["repeats"][0]["tokens"], 1280);
  EXPECT_TRUE(record["metrics"]["mfu_ratio"].is_null());
  EXPECT_TRUE(record["peak"]["reason"].is_string());
}

TEST_F(TinyRun, TheRecordHoldsFingerprintAndConditions) {
  ASSERT_EQ(run().exit_code, 0);
  const nlohmann::json record = this->record();
  const nlohmann::json& environment = record["environment"];
  EXPECT_TRUE(environment["cpu_affinity"].is_string());
  EXPECT_GT(environment["memory_bytes"], 0);
  EXPECT_TRUE(environment["device_uuid"].is_null()) << "a CPU has none";
  EXPECT_EQ(environment["threads"], 1);
  const nlohmann::json& conditions = record["conditions"];
  EXPECT_GE(conditions["samples"], 2);
  EXPECT_GE(conditions["duration_s"], record["repeats"][0]["wall_s"]);
  EXPECT_LE(conditions["duration_s"], record["repeats"][0]["wall_s"].get<double>() + 2);
  for (const char* share : {"steal_ratio", "others_cpu_ratio"}) {
    if (conditions[share].is_null()) continue;  // a machine without /proc/stat, or steps within one tick
    EXPECT_GE(conditions[share], 0) << share;
    EXPECT_LE(conditions[share], 1) << share;
  }
  EXPECT_TRUE(conditions["involuntary_switches_per_step"].is_number());
  EXPECT_TRUE(conditions["device_clock_hz"].is_null());
  EXPECT_TRUE(record["metrics"]["energy_per_step_j"].is_null());
}

bool has_warning(const nlohmann::json& record, const std::string& code) {
  for (const nlohmann::json& warning : record["warnings"]) {
    if (warning["code"] == code) return true;
  }
  return false;
}

TEST_F(TinyRun, EveryLaunchReadsTheRulerBeforeAndAfter) {
  ASSERT_EQ(run({"--set", "measure.repeats=2"}).exit_code, 0);
  const nlohmann::json record = this->record();
  const nlohmann::json& ruler = record["ruler"];
  EXPECT_EQ(ruler["matmul_flop"], 2LL * 512 * 512 * 512);
  EXPECT_EQ(ruler["copy_bytes"], 2LL * (32 << 20));
  ASSERT_EQ(ruler["matmul_s"].size(), 4U);
  ASSERT_EQ(ruler["copy_s"].size(), 4U);
  for (const double s : ruler["matmul_s"]) EXPECT_GT(s, 0);
  EXPECT_FALSE(has_warning(record, "zero_inputs"));
#ifdef NDEBUG
  EXPECT_FALSE(has_warning(record, "debug_build"));
#else
  EXPECT_TRUE(has_warning(record, "debug_build"));
#endif
  EXPECT_EQ(record["environment"]["libtorch_build"], "Release");
}

TEST_F(TinyRun, AFileOfZerosIsToldOf) {
  std::ofstream(folder_ / "zeros.txt") << std::string(10000, '\0');
  ASSERT_EQ(
      run({"--set", "data.type=text", "--set", "data.path=" + (folder_ / "zeros.txt").string()}).exit_code,
      0);
  EXPECT_TRUE(has_warning(record(), "zero_inputs"));
}

ProgramOptions env_options(std::vector<std::string> more) {
  ProgramOptions options;
  options.arguments = {"env"};
  options.arguments.insert(options.arguments.end(), more.begin(), more.end());
  return options;
}

TEST_F(TinyRun, EnvSaysWhatTheRecordSays) {
  ASSERT_EQ(run().exit_code, 0);
  const ProgramResult result =
      run_program(FLOPMARK_PROGRAM, env_options({"--device", "cpu", "--format", "json"}));
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const nlohmann::json environment = nlohmann::json::parse(result.out);
  for (const char* key : {"device_name", "libtorch", "compiler", "cpu_logical", "os"}) {
    EXPECT_EQ(environment[key], record()["environment"][key]) << key;
  }
  EXPECT_EQ(run_program(FLOPMARK_PROGRAM, env_options({"--device", "tpu"})).exit_code, 200);
}

TEST_F(TinyRun, AccumulationMultipliesTheStep) {
  ASSERT_EQ(run({"--set", "train.gradient_accumulation=4"}).exit_code, 0);
  const nlohmann::json record = this->record();
  EXPECT_EQ(record["flops"]["model_flop"], 179306496);
  EXPECT_EQ(record["repeats"][0]["tokens"], 20 * 256);
}

TEST_F(TinyRun, UnfusedAttentionRecomputesNothing) {
  ASSERT_EQ(run({"--set", "train.attention_kernel=unfused"}).exit_code, 0);
  EXPECT_EQ(record()["flops"]["model_flop"], 44826624);
  EXPECT_EQ(record()["flops"]["hardware_flop"], 44826624);
}

TEST_F(TinyRun, PhasesAddUpAndTheWallClockAgrees) {
  ASSERT_EQ(run({"--set", "measure.steps=100"}).exit_code, 0);
  const nlohmann::json record = this->record();
  const nlohmann::json& phases = record["phases"];
  const double sum = phases["data_s"].get<double>() + phases["transfer_s"].get<double>() +
                     phases["forward_s"].get<double>() + phases["backward_s"].get<double>() +
                     phases["communication_exposed_s"].get<double>() + phases["optimizer_s"].get<double>() +
                     phases["other_s"].get<double>();
  const double mean = record["metrics"]["step_s"]["mean"];
  EXPECT_NEAR(sum, mean, 0.02 * mean);
  const nlohmann::json& repeat = record["repeats"][0];
  const std::vector<double> step_s = repeat["step_s"];
  const double total = std::accumulate(step_s.begin(), step_s.end(), 0.0);
  EXPECT_NEAR(total, repeat["wall_s"].get<double>(), 0.01 * total);
  EXPECT_NEAR(record["metrics"]["samples_per_s"], 200 / repeat["wall_s"].get<double>(), 1e-3);
}

TEST_F(TinyRun, APeakByHandGivesMfuAndAnAbsurdOneIsNotBelieved) {
  ASSERT_EQ(run({"--set", "peak.flop_per_s=1e15"}).exit_code, 0);
  nlohmann::json record = this->record();
  EXPECT_GT(record["metrics"]["mfu_ratio"], 0);
  EXPECT_GT(record["metrics"]["hfu_ratio"], record["metrics"]["mfu_ratio"]);
  EXPECT_EQ(record["peak"]["source"], "by_hand");
  ASSERT_EQ(run({"--set", "peak.flop_per_s=1e6", "--force"}).exit_code, 0);
  EXPECT_EQ(this->record()["status"], "invalid");
  EXPECT_EQ(
      run({"--set", "peak.flop_per_s=1e6", "--force", "--reason", "a test", "--save-baseline"}).exit_code,
      202);
  EXPECT_FALSE(has_baselines());
}

TEST_F(TinyRun, ATokenOutsideTheVocabularyIsRefusedBeforeTraining) {
  std::ofstream file(folder_ / "ids.bin", std::ios::binary);
  for (int i = 0; i < 2000; ++i) {
    const uint16_t id = i == 500 ? 300 : static_cast<uint16_t>(i % 256);
    file.write(reinterpret_cast<const char*>(&id), 2);
  }
  file.close();
  const ProgramResult result =
      run({"--set", "data.type=tokens", "--set", "data.path=" + (folder_ / "ids.bin").string()});
  EXPECT_EQ(result.exit_code, 200);
  EXPECT_THAT(result.err, AllOf(HasSubstr("ids.bin"), HasSubstr("500"), HasSubstr("300"), HasSubstr("256")));
  EXPECT_FALSE(std::filesystem::exists(record_file()));
}

TEST_F(TinyRun, TrainsEveryPrecisionAndOptimizerOfACpu) {
  const std::map<std::string, std::string> products = {
      {"fp32", "fp32"}, {"bf16-mixed", "bf16"}, {"bf16", "bf16"}, {"fp16-mixed", "fp16"}};
  for (const auto& [precision, product] : products) {
    for (const char* optimizer : {"sgd", "adamw"}) {
      const ProgramResult result = run({"--force", "--set", "train.precision=" + precision, "--set",
                                        std::string("train.optimizer.type=") + optimizer});
      EXPECT_EQ(result.exit_code, 0) << precision << ' ' << optimizer << '\n' << result.err;
      EXPECT_EQ(record()["peak"]["precision"], product);
      EXPECT_EQ(record()["repeats"][0].contains("skipped_steps"), precision == "fp16-mixed");
      EXPECT_EQ(record()["flops"]["model_flop"], 44826624);
    }
  }
  EXPECT_EQ(run({"--set", "train.precision=tf32", "--force"}).exit_code, 200);
}

/// Each is told before training, with a way out.
TEST_F(TinyRun, WhatCannotBeTrainedIsRefused) {
  struct Case {
    const char* config;
    const char* told;
  };
  const Case cases[] = {{R"({"device": "cpu", "model": {"preset": "mobilenet-v1", "hidden_size": 8},
           "data": {"type": "synthetic", "image_size": 32, "batch_size": 1}})",
                         "a single value per channel; raise data.batch_size"},
                        {R"({"device": "cpu", "model": {"preset": "resnet18", "hidden_size": 8},
           "data": {"type": "synthetic", "image_size": 32, "batch_size": 1}})",
                         "a single value per channel; raise data.batch_size"},
                        {R"({"device": "cpu", "model": {"preset": "lstm-ptb-medium", "hidden_size": 32},
           "data": {"type": "synthetic", "sequence_length": 8, "batch_size": 2},
           "train": {"precision": "fp16-mixed"}})",
                         "cannot run in fp16 on a CPU; use bf16-mixed"}};
  for (const Case& one : cases) {
    std::ofstream(folder_ / "tiny.json") << one.config;
    const ProgramResult result = run();
    EXPECT_EQ(result.exit_code, 200) << result.err;
    EXPECT_THAT(result.err, HasSubstr(one.told));
  }
}

TEST_F(TinyRun, EveryOtherBuiltInModelTrains) {
  struct Case {
    const char* preset;
    std::vector<std::string> sets;
  };
  const Case cases[] = {
      {"bert-base", {"model.layers=2", "model.vocab_size=300", "data.sequence_length=32"}},
      {"mixtral-tiny", {"data.sequence_length=32", "train.activation_checkpointing=full"}},
      {"lstm-ptb-medium", {"model.hidden_size=32", "model.vocab_size=300", "data.sequence_length=16"}},
      {"mobilenet-v1", {"model.hidden_size=8", "data.image_size=48", "train.channels_last=true"}},
      {"resnet18", {"model.hidden_size=8", "data.image_size=48", "train.channels_last=true"}},
      {"vit-b-16", {"model.layers=1", "data.image_size=32"}}};
  for (const Case& one : cases) {
    std::ofstream(folder_ / "tiny.json")
        << R"({ "device": "cpu", "data": { "batch_size": 4 }, "model": { "preset": ")" << one.preset
        << R"(" }, "measure": { "warmup_max_steps": 10,
      "steps": 5, "repeats": 1 } })";
    std::vector<std::string> arguments = {"--force"};
    for (const std::string& set : one.sets) arguments.insert(arguments.end(), {"--set", set});
    const ProgramResult result = run(arguments);
    ASSERT_EQ(result.exit_code, 0) << one.preset << '\n' << result.err;
    EXPECT_EQ(record()["status"], "ok") << one.preset;
    EXPECT_FALSE(record()["flops"]["lower_bound"]) << one.preset;
    EXPECT_NE(record()["repeats"][0]["loss_first"], record()["repeats"][0]["loss_last"]) << one.preset;
  }
}

TEST_F(TinyRun, TextMlpAndGpt2Train) {
  std::ofstream(folder_ / "text.txt") << std::string(5000, 'a') + std::string(5000, 'b');
  EXPECT_EQ(
      run({"--set", "data.type=text", "--set", "data.path=" + (folder_ / "text.txt").string()}).exit_code, 0);
  std::ofstream(folder_ / "tiny.json") << R"({ "model": { "type": "mlp" }, "device": "cpu",
      "data": { "type": "synthetic", "batch_size": 64 },
      "measure": { "warmup_max_steps": 12, "steps": 20, "repeats": 1 } })";
  ASSERT_EQ(run({"--force"}).exit_code, 0);
  EXPECT_EQ(record()["parameters"], 669706);
  EXPECT_EQ(record()["flops"]["model_flop"], 205389824);
  EXPECT_EQ(record()["repeats"][0]["images"], 20 * 64);
  EXPECT_GT(record()["metrics"]["images_per_s"], 0);
}

}  // namespace
}  // namespace flopmark::testing
