#include "report/dry_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "flopmark/error.h"

#include "config/presets.h"

namespace flopmark {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// Tiny LLaMA of the public cases: batch 2, 32 tokens; 125,248 parameters.
RunConfig tiny_llama() {
  RunConfig config;
  config.name = "tiny";
  config.model = *find_preset("llama-tiny");
  config.data.batch_size = 2;
  config.data.sequence_length = 32;
  return config;
}

RunConfig with(const std::string& precision, const std::string& optimizer, double momentum) {
  RunConfig config;
  config.train.precision = precision;
  config.train.optimizer.type = optimizer;
  config.train.optimizer.momentum = momentum;
  return config;
}

TEST(DryRun, MemoryFollowsPrecisionAndOptimizer) {
  const auto bytes = [](const RunConfig& config) {
    const StaticMemory memory = static_memory(config, 100);
    EXPECT_EQ(memory.total_bytes(),
              memory.parameters_bytes + memory.gradients_bytes + memory.optimizer_state_bytes);
    return std::array{memory.parameters_bytes, memory.gradients_bytes, memory.optimizer_state_bytes};
  };
  EXPECT_EQ(bytes(with("fp32", "adamw", 0)), (std::array<int64_t, 3>{400, 400, 800}));
  EXPECT_EQ(bytes(with("tf32", "sgd", 0)), (std::array<int64_t, 3>{400, 400, 0}));
  EXPECT_EQ(bytes(with("bf16-mixed", "sgd", 0.9)), (std::array<int64_t, 3>{400, 400, 400}));
  EXPECT_EQ(bytes(with("fp16-mixed", "adamw", 0)), (std::array<int64_t, 3>{400, 400, 800}));
  EXPECT_EQ(bytes(with("bf16", "adamw", 0)), (std::array<int64_t, 3>{200, 200, 400}));
  RunConfig sharded = with("fp32", "adamw", 0);
  sharded.parallel.ranks = 3;
  EXPECT_EQ(bytes(sharded), (std::array<int64_t, 3>{400, 400, 800}));
  sharded.parallel.sharding = "zero2";
  EXPECT_EQ(bytes(sharded), (std::array<int64_t, 3>{400, 400, 272})) << "34 of 100 values";
}

TEST(DryRun, CountsTinyLlamaExactly) {
  const nlohmann::json document = dry_run(tiny_llama());
  EXPECT_EQ(document.at("parameters"), 125248);
  EXPECT_EQ(document.at("flops").at("forward_flop"), 14942208);
  EXPECT_EQ(document.at("flops").at("model_flop"), 44826624);
  EXPECT_EQ(document.at("flops").at("hardware_flop"), 45350912);
  EXPECT_EQ(document.at("memory").at("parameters_bytes"), 500992);
  EXPECT_EQ(document.at("memory").at("optimizer_state_bytes"), 1001984);
  EXPECT_EQ(document.at("memory").at("covers"), "without activations");
  EXPECT_EQ(document.at("config").at("model").at("type"), "llama");
}

TEST(DryRun, AccumulationMultipliesAndUnfusedAttentionRecomputesNothing) {
  RunConfig config = tiny_llama();
  config.train.gradient_accumulation = 4;
  config.train.attention_kernel = "unfused";
  const nlohmann::json document = dry_run(config);
  EXPECT_EQ(document.at("flops").at("model_flop"), 179306496);
  EXPECT_EQ(document.at("flops").at("hardware_flop"), 179306496);
  EXPECT_EQ(document.at("flops").at("attention_kernel"), "unfused");
}

TEST(DryRun, AModelTooLargeToCountIsTheUsersMistake) {
  RunConfig config = tiny_llama();
  config.model.hidden_size = 1 << 20;
  config.model.layers = 1 << 16;
  config.data.batch_size = config.data.sequence_length = 1LL << 31;
  try {
    dry_run(config);
    FAIL() << "counted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
  }
}

TEST(DryRun, ATorchScriptModelIsNotKnownBeforeItIsLoaded) {
  RunConfig config;
  config.model = {.type = "torchscript", .preset = "", .torchscript = "/a/model.pt"};
  config.data.inputs = {{{2, 3}, "float32", {}}};
  const nlohmann::json document = dry_run(config);
  EXPECT_TRUE(document.at("parameters").is_null());
  EXPECT_TRUE(document.at("flops").is_null());
  EXPECT_THAT(document.at("reason").get<std::string>(), HasSubstr("unknown before loading"));
  EXPECT_EQ(document.at("config").at("model").at("torchscript"), "/a/model.pt");
  EXPECT_THAT(dry_run_text(document), HasSubstr("unknown before loading"));
}

TEST(DryRun, CountsResNet50Exactly) {
  RunConfig config;
  config.model = *find_preset("resnet50");
  const nlohmann::json document = dry_run(config);
  EXPECT_EQ(document.at("parameters"), 25557032);
  EXPECT_EQ(document.at("flops").at("forward_flop"), 8178368512);
  EXPECT_EQ(document.at("flops").at("model_flop"), 24299077632);
}

TEST(DryRun, TextSaysConventionAndWhatMemoryLeavesOut) {
  const std::string text = dry_run_text(dry_run(tiny_llama()));
  EXPECT_THAT(text, HasSubstr("125,248 parameters"));
  EXPECT_THAT(
      text, HasSubstr("14.94 MFLOP forward, 44.83 MFLOP forward and backward (model), 45.35 MFLOP executed"));
  EXPECT_THAT(text, HasSubstr("1 multiply-add = 2 FLOP"));
  EXPECT_THAT(text, HasSubstr("1.911 MiB without activations"));
  EXPECT_THAT(text, Not(HasSubstr("rank")));
}

TEST(DryRun, OfSeveralRanksEachFigureSaysWhoseItIs) {
  RunConfig config = tiny_llama();
  config.parallel.ranks = 4;
  config.train.gradient_accumulation = 2;
  const nlohmann::json document = dry_run(config);
  EXPECT_EQ(document.at("flops").at("model_flop"), 2 * 44826624) << "of one rank";
  EXPECT_EQ(document.at("job").at("ranks"), 4);
  EXPECT_EQ(document.at("job").at("samples"), 16);
  EXPECT_EQ(document.at("job").at("model_flop"), 8 * 44826624.0);
  EXPECT_EQ(document.at("job").at("hardware_flop"), 8 * 45350912.0);
  EXPECT_EQ(document.at("job").at("memory_bytes"), 4 * 4 * 500992.0);
  const std::string text = dry_run_text(document);
  EXPECT_THAT(text, HasSubstr("125,248 parameters, the same on every rank\n"));
  EXPECT_THAT(text, HasSubstr("per step of one rank,"));
  EXPECT_THAT(text, HasSubstr("1.911 MiB of one rank without activations"));
  EXPECT_THAT(text, HasSubstr("4 ranks together: 16 samples a step, 358.6 MFLOP (model), "));
  EXPECT_THAT(text, HasSubstr("7.645 MiB without"));
  EXPECT_FALSE(dry_run(tiny_llama()).contains("job"));
  config.parallel.sharding = "zero2";
  EXPECT_THAT(dry_run_text(dry_run(config)), HasSubstr("(its share)"));
}

}  // namespace
}  // namespace flopmark
