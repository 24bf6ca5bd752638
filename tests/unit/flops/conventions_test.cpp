#include "flops/conventions.h"

#include <gtest/gtest.h>

#include <set>
#include <stdexcept>
#include <string>

#include "config/presets.h"
#include "flops/closed_form.h"

namespace flopmark {
namespace {

/// Tiny LLaMA of the public cases at T 32, every count worked out by hand.
TransformerShape tiny_shape() {
  return {.layers = 2,
          .heads = 4,
          .head_size = 16,
          .hidden_size = 64,
          .sequence_length = 32,
          .parameters = 125'248,
          .matmul_parameters = 92'160 + 16'384,
          .output_parameters = 16'384,
          .parameters_without_input_embedding = 125'248 - 16'384};
}

int64_t model_flop_of(const char* key, const TransformerShape& shape = tiny_shape()) {
  return find_flop_convention(key)->flop_per_token(shape);
}

double hardware_flop_of(const char* rule, const char* convention,
                        const TransformerShape& shape = tiny_shape()) {
  return find_hardware_rule(rule)->flop_per_token(shape, *find_flop_convention(convention));
}

TransformerShape preset_shape(const char* preset, int64_t sequence_length) {
  return transformer_shape(*find_preset(preset), {.sequence_length = sequence_length});
}

TEST(Conventions, TinyLlamaByHand) {  // public cases A06, A08; L H Q T = 4096
  EXPECT_EQ(model_flop_of("palm_all"), 6 * 125'248 + 12 * 4096);
  EXPECT_EQ(model_flop_of("palm_all"), 800'640);
  EXPECT_EQ(model_flop_of("palm_no_input_embedding"), 702'336);
  EXPECT_EQ(model_flop_of("sixn_all"), 751'488);
  EXPECT_EQ(model_flop_of("matmul_full"), 700'416);
  EXPECT_EQ(model_flop_of("matmul_full") * 64, 44'826'624);  // a step of 2 x 32 tokens
  EXPECT_EQ(model_flop_of("matmul_causal"), 675'840);
  EXPECT_EQ(model_flop_of("llmc"), 776'064);
}

TEST(Conventions, EachReadsItsOwnSizes) {
  TransformerShape shape = tiny_shape();
  shape.head_size = 48;  // H Q is three times d: llm.c's formula has d, the others H Q
  EXPECT_EQ(model_flop_of("llmc", shape), 776'064);
  EXPECT_EQ(model_flop_of("palm_all", shape), 751'488 + 3 * 49'152);
  shape = tiny_shape();
  shape.hidden_size = 128;
  EXPECT_EQ(model_flop_of("llmc", shape), 751'488 + 2 * 24'576);
  EXPECT_EQ(model_flop_of("matmul_causal", shape), 675'840);
}

TEST(HardwareRules, TinyLlamaByHand) {  // public case A07
  EXPECT_EQ(hardware_flop_of("none", "matmul_full"), 700'416);
  EXPECT_EQ(hardware_flop_of("four_thirds", "matmul_full"), 933'888);
  EXPECT_EQ(hardware_flop_of("blocks_exact", "matmul_full"), 700'416 + 2 * 92'160 + 4 * 4096);
  EXPECT_EQ(hardware_flop_of("blocks_exact", "matmul_full") * 64, 57'671'680);
  EXPECT_EQ(hardware_flop_of("attention_only", "matmul_full"), 749'568);
  EXPECT_EQ(hardware_flop_of("attention_rerun", "matmul_full"), 716'800);
}

TEST(HardwareRules, FollowTheConvention) {
  EXPECT_EQ(hardware_flop_of("none", "sixn_all"), 751'488);
  EXPECT_EQ(hardware_flop_of("four_thirds", "sixn_all"), 1'001'984);
  EXPECT_EQ(hardware_flop_of("blocks_exact", "matmul_causal"), 675'840 + 184'320 + 8192);
  EXPECT_EQ(hardware_flop_of("attention_rerun", "matmul_causal"), 684'032);
  EXPECT_EQ(hardware_flop_of("attention_rerun", "llmc"), 784'256);
  EXPECT_EQ(hardware_flop_of("attention_only", "palm_all"), 849'792);
}

TEST(Conventions, GoldenModels) {
  EXPECT_EQ(model_flop_of("matmul_full", preset_shape("gpt2-124m", 1024)) * 1024, 874'944'921'600);
  EXPECT_EQ(model_flop_of("matmul_full", preset_shape("llama-3-8b", 8192)) * 8192, 474'422'087'516'160);
  EXPECT_EQ(model_flop_of("matmul_full", preset_shape("llama-3-70b", 8192)) * 8192, 3'943'913'849'094'144);
  EXPECT_EQ(hardware_flop_of("blocks_exact", "matmul_full", preset_shape("gpt2-124m", 1024)) * 1024,
            1'087'545'802'752);
  EXPECT_EQ(hardware_flop_of("blocks_exact", "matmul_full", preset_shape("llama-3-8b", 8192)) * 8192,
            623'955'668'893'696);
}

TEST(Conventions, TheExactOneIsForwardAndBackwardOfEveryPreset) {
  int languages = 0;
  for (const ModelShape& model : model_presets()) {
    if (model.type != "llama" && model.type != "gpt2") continue;
    ++languages;
    const FlopTotals step = closed_form_flops(model, {.batch_size = 3, .sequence_length = 512},
                                              {.micro_batches = 1, .fused_attention = false});
    const TransformerShape shape = transformer_shape(model, {.sequence_length = 512});
    EXPECT_EQ(exact_convention().flop_per_token(shape) * 3 * 512, step.model_flop()) << model.preset;
  }
  EXPECT_GE(languages, 9);
}

TEST(Conventions, AreFoundByBothNames) {
  EXPECT_EQ(find_flop_convention("PALM_NO_INPUT_EMB"), find_flop_convention("palm_no_input_embedding"));
  EXPECT_EQ(find_hardware_rule("ATTENTION_ONLY"), find_hardware_rule("attention_only"));
  EXPECT_STREQ(exact_convention().key, "matmul_full");
  EXPECT_EQ(find_flop_convention("Palm_all"), nullptr);
  EXPECT_EQ(find_flop_convention(""), nullptr);
  EXPECT_EQ(find_hardware_rule("palm_all"), nullptr);
  std::set<std::string> names;
  for (const auto& row : flop_conventions()) names.insert({row.key, row.published_key, row.formula});
  for (const auto& row : hardware_rules()) names.insert({row.key, row.published_key, row.rule});
  EXPECT_EQ(names.size(), 3 * (flop_conventions().size() + hardware_rules().size()));
}

TEST(Conventions, CountsBeyond64BitsAreRefused) {
  TransformerShape shape = tiny_shape();
  shape.parameters = int64_t{1} << 62;
  EXPECT_THROW(model_flop_of("sixn_all", shape), std::overflow_error);
  EXPECT_THROW(hardware_flop_of("four_thirds", "palm_all", shape), std::overflow_error);
  shape = tiny_shape();
  shape.sequence_length = int64_t{1} << 55;
  EXPECT_THROW(model_flop_of("matmul_causal", shape), std::overflow_error);
  EXPECT_THROW(hardware_flop_of("attention_only", "sixn_all", shape), std::overflow_error);
}

}  // namespace
}  // namespace flopmark
