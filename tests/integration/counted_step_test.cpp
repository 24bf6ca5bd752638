// The closed forms of src/flops against one real step, counted.
#include <gtest/gtest.h>

#include "flops/closed_form.h"
#include "worker/job.h"

namespace flopmark {
namespace {

RunConfig config_of(const char* type, const char* preset) {
  return load_config(FLOPMARK_SOURCE_DIR "/configs/llama-tiny-cpu.json",
                     {std::string("model.type=") + type, std::string("model.preset=") + preset});
}

void expect_counted_equals_formula(const RunConfig& config) {
  Job job = make_job(config);
  const auto step = make_step(job, config);
  const FlopTotals formula = closed_form_flops(
      config.model, {.batch_size = config.data.batch_size, .sequence_length = config.data.sequence_length},
      {.micro_batches = config.train.gradient_accumulation,
       .fused_attention = config.train.attention_kernel != "unfused",
       .checkpoint_interval = config.train.activation_checkpointing.blocks,
       .causal_convention = config.measure.attention_convention == "causal"});
  for (int again = 0; again < 2; ++again) {
    const FlopTotals counted = step->count();
    EXPECT_EQ(counted.forward_flop, formula.forward_flop);
    EXPECT_EQ(counted.backward_flop, formula.backward_flop);
    EXPECT_EQ(counted.backward_hardware_flop, formula.backward_hardware_flop);
    EXPECT_EQ(counted.recompute_flop, formula.recompute_flop);
    EXPECT_EQ(counted.optimizer_flop, 0);
    EXPECT_FALSE(counted.lower_bound);
  }
  EXPECT_EQ(step->parameters(), count_parameters(config.model));
}

TEST(CountedStep, EqualsTheClosedFormOfTheTinyLlama) {
  for (const char* kernel : {"fused", "unfused"}) {
    RunConfig config = config_of("llama", "llama-tiny");
    config.train.attention_kernel = kernel;
    config.train.gradient_accumulation = 3;
    expect_counted_equals_formula(config);
    config.model.tied_embeddings = true;
    expect_counted_equals_formula(config);
    config.model.kv_heads = 1;
    expect_counted_equals_formula(config);
  }
}

TEST(CountedStep, EqualsTheClosedFormWithCheckpointingAndTheCausalConvention) {
  for (const char* kernel : {"fused", "unfused"}) {
    RunConfig config = config_of("llama", "llama-tiny");
    config.train.attention_kernel = kernel;
    config.model.layers = 3;
    config.train.activation_checkpointing.blocks = 1;
    expect_counted_equals_formula(config);
    config.train.activation_checkpointing.blocks = 2;
    config.measure.attention_convention = "causal";
    expect_counted_equals_formula(config);
  }
  RunConfig mlp = load_config(FLOPMARK_SOURCE_DIR "/configs/mlp-cpu.json");
  mlp.train.activation_checkpointing.blocks = 2;
  expect_counted_equals_formula(mlp);
}

TEST(CountedStep, EqualsTheClosedFormUnderAutocast) {
  for (const char* precision : {"bf16-mixed", "fp16-mixed"}) {
    RunConfig config = config_of("llama", "llama-tiny");
    config.train.precision = precision;
    expect_counted_equals_formula(config);
  }
}

TEST(CountedStep, EqualsTheClosedFormOfTheMlp) {
  expect_counted_equals_formula(load_config(FLOPMARK_SOURCE_DIR "/configs/mlp-cpu.json"));
}

TEST(CountedStep, EqualsTheClosedFormOfResidualNetworks) {
  for (const char* preset : {"resnet18", "resnet50"}) {
    expect_counted_equals_formula(load_config(FLOPMARK_SOURCE_DIR "/configs/mlp-cpu.json",
                                              {"model.type=resnet", std::string("model.preset=") + preset,
                                               "data.image_size=32", "data.batch_size=2"}));
  }
}

TEST(CountedStep, EqualsTheClosedFormOfTheVisionTransformer) {
  for (const char* kernel : {"fused", "unfused"}) {
    RunConfig config =
        load_config(FLOPMARK_SOURCE_DIR "/configs/mlp-cpu.json",
                    {"model.type=vit", "model.layers=2", "data.image_size=32", "data.batch_size=2"});
    config.train.attention_kernel = kernel;
    config.train.gradient_accumulation = 2;
    expect_counted_equals_formula(config);
  }
}

TEST(CountedStep, EqualsTheClosedFormOfTheMixtureOfExperts) {
  for (const char* kernel : {"fused", "unfused"}) {
    RunConfig config = config_of("mixtral", "mixtral-tiny");
    config.train.attention_kernel = kernel;
    expect_counted_equals_formula(config);
    config.model.experts = 7;
    config.model.experts_per_token = 3;
    config.train.gradient_accumulation = 2;
    config.train.activation_checkpointing.blocks = 2;
    expect_counted_equals_formula(config);
    config.train.precision = "bf16-mixed";
    expect_counted_equals_formula(config);
  }
}

TEST(CountedStep, EqualsTheClosedFormOfTheRecurrentNetwork) {
  RunConfig config = config_of("lstm", "lstm-ptb-medium");
  config.model.vocab_size = 300;
  config.model.hidden_size = 24;
  expect_counted_equals_formula(config);
  config.model.layers = 3;
  config.model.tied_embeddings = true;
  config.train.gradient_accumulation = 2;
  expect_counted_equals_formula(config);
  config.train.precision = "bf16";
  expect_counted_equals_formula(config);
}

TEST(CountedStep, EqualsTheClosedFormOfDepthwiseConvolutions) {
  RunConfig config =
      load_config(FLOPMARK_SOURCE_DIR "/configs/mlp-cpu.json",
                  {"model.type=convnet", "data.image_size=40", "data.image_channels=3", "data.batch_size=2"});
  expect_counted_equals_formula(config);
  config.train.activation_checkpointing.blocks = 4;
  config.train.gradient_accumulation = 2;
  expect_counted_equals_formula(config);
}

/// A few steps with the images' channels last, and as they come: the same work, and losses equal within
/// rounding.
TEST(CountedStep, ChannelsLastChangesNothingButMemory) {
  for (const char* type : {"resnet", "convnet"}) {
    const auto losses = [&](const char* channels_last) {
      RunConfig config =
          load_config(FLOPMARK_SOURCE_DIR "/configs/mlp-cpu.json",
                      {std::string("model.type=") + type, "data.image_size=32", "data.image_channels=3",
                       "data.batch_size=8", std::string("train.channels_last=") + channels_last,
                       "train.optimizer.type=sgd", "train.optimizer.lr=0.0001", "data.workers=0"});
      if (config.model.type == "resnet") config.model.stage_blocks = {1, 1, 1, 1};
      Job job = make_job(config);
      const bool last = job.model->parameters().front().is_contiguous(at::MemoryFormat::ChannelsLast);
      EXPECT_EQ(last, config.train.channels_last);
      const auto step = make_step(job, config);
      step->begin_block(3);
      for (int i = 0; i < 3; ++i) {
        step->next_batch();
        step->transfer();
        step->forward();
        step->backward();
        step->update();
      }
      const auto found = step->end_block().losses;
      const auto formula = closed_form_flops(config.model, {.batch_size = 8}, {});
      EXPECT_EQ(step->count().model_flop(), formula.model_flop()) << type;
      return found;
    };
    const auto plain = losses("false"), last = losses("true");
    ASSERT_EQ(plain.size(), 3U);
    for (size_t i = 0; i < 3; ++i) EXPECT_NEAR(plain[i], last[i], 1e-4 * plain[i]) << type << ' ' << i;
    EXPECT_NE(plain[0], plain[2]);
  }
}

TEST(CountedStep, EqualsTheClosedFormOfTheEncoder) {
  for (const char* kernel : {"fused", "unfused"}) {
    RunConfig config = load_config(FLOPMARK_SOURCE_DIR "/configs/llama-tiny-cpu.json",
                                   {"model.type=bert", "model.preset=bert-base", "model.layers=3",
                                    "model.vocab_size=300", "model.hidden_size=48", "model.ffn_size=40"});
    config.train.attention_kernel = kernel;
    config.train.gradient_accumulation = 2;
    expect_counted_equals_formula(config);
    config.train.activation_checkpointing.blocks = 2;
    config.model.tied_embeddings = false;
    expect_counted_equals_formula(config);
  }
}

TEST(CountedStep, EqualsTheClosedFormOfGpt2AtFullSize) {
  RunConfig config = config_of("gpt2", "gpt2-124m");
  config.data.batch_size = 1;
  config.data.sequence_length = 1024;
  config.train.attention_kernel = "unfused";
  Job job = make_job(config);
  const auto step = make_step(job, config);
  EXPECT_EQ(step->parameters(), 124439808);
  const FlopTotals counted = step->count();
  EXPECT_EQ(counted.forward_flop, 291648307200);
  EXPECT_EQ(counted.model_flop(), 874944921600);
  EXPECT_EQ(counted.hardware_flop(), 874944921600);
}

}  // namespace
}  // namespace flopmark
