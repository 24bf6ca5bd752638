#include "config/presets.h"

#include <gtest/gtest.h>

#include <set>

namespace flopmark {
namespace {

int64_t tied_or_not(const ModelShape& m) {
  return (m.tied_embeddings ? 1 : 2) * m.vocab_size * m.hidden_size;
}

/// Parameters of a llama: per block wq, wo, wk, wv, three feed-forward matrices, two norms; one norm at the
/// end.
int64_t llama_parameters(const ModelShape& m) {
  const int64_t kv = m.hidden_size / m.heads * m.kv_heads;
  const int64_t block = 2 * m.hidden_size * m.hidden_size + 2 * m.hidden_size * kv +
                        3 * m.hidden_size * m.ffn_size + 2 * m.hidden_size;
  return tied_or_not(m) + m.layers * block + m.hidden_size;
}

/// Parameters of a GPT-2: every linear layer and norm has a bias.
int64_t gpt2_parameters(const ModelShape& m) {
  const int64_t h = m.hidden_size;
  const int64_t block = 4 * h * h + 4 * h + 2 * h * m.ffn_size + m.ffn_size + h + 4 * h;
  return tied_or_not(m) + m.max_sequence_length * h + m.layers * block + 2 * h;
}

TEST(Presets, ParameterCountsArePublishedOnes) {
  EXPECT_EQ(llama_parameters(*find_preset("llama-tiny")), 125248);
  EXPECT_EQ(llama_parameters(*find_preset("llama-1b")), 1235814400);
  EXPECT_EQ(llama_parameters(*find_preset("llama-7b")), 6738415616);
  EXPECT_EQ(llama_parameters(*find_preset("llama-3-8b")), 8030261248);
  EXPECT_EQ(llama_parameters(*find_preset("llama-3-70b")), 70553706496);
  EXPECT_EQ(gpt2_parameters(*find_preset("gpt2-124m")), 124439808);
  EXPECT_EQ(gpt2_parameters(*find_preset("gpt2-355m")), 354823168);
  EXPECT_EQ(gpt2_parameters(*find_preset("gpt2-774m")), 774030080);
  EXPECT_EQ(gpt2_parameters(*find_preset("gpt2-1558m")), 1557611200);
}

TEST(Presets, Mlp) {
  const ModelShape& mlp = *find_preset("mlp-784-512-512-10");
  EXPECT_EQ(mlp.input_size, 784);
  EXPECT_EQ(mlp.hidden_size, 512);
  EXPECT_EQ(mlp.layers, 2);
  EXPECT_EQ(mlp.classes, 10);
  EXPECT_EQ(mlp.vocab_size + mlp.heads + mlp.kv_heads + mlp.ffn_size + mlp.max_sequence_length, 0);
}

TEST(Presets, EveryImageModelSaysItsImage) {
  for (const ModelShape& preset : model_presets()) {
    EXPECT_EQ(preset.image_size > 0, preset.classes > 0) << preset.preset;
    EXPECT_EQ(preset.image_channels > 0, preset.classes > 0) << preset.preset;
    EXPECT_NE(preset.vocab_size > 0, preset.classes > 0) << preset.preset;
  }
}

TEST(Presets, NamesAreUniqueAndTypesKnown) {
  std::set<std::string> names;
  std::set<std::string> types;
  for (const ModelShape& preset : model_presets()) {
    EXPECT_TRUE(names.insert(preset.preset).second) << preset.preset;
    types.insert(preset.type);
  }
  EXPECT_EQ(types, std::set<std::string>(model_types().begin(), model_types().end()));
  EXPECT_EQ(find_preset("llama"), nullptr);
  EXPECT_EQ(find_preset(""), nullptr);
}

TEST(Presets, DefaultOfEachType) {
  EXPECT_EQ(default_preset("llama").preset, "llama-tiny");
  EXPECT_EQ(default_preset("gpt2").preset, "gpt2-124m");
  EXPECT_EQ(default_preset("mlp").preset, "mlp-784-512-512-10");
  EXPECT_EQ(default_preset("resnet").preset, "resnet50");
  EXPECT_EQ(default_preset("vit").preset, "vit-b-16");
  EXPECT_EQ(default_preset("bert").preset, "bert-base");
  EXPECT_EQ(default_preset("convnet").preset, "mobilenet-v1");
  EXPECT_EQ(default_preset("mixtral").preset, "mixtral-tiny");
  EXPECT_EQ(default_preset("lstm").preset, "lstm-ptb-medium");
}

}  // namespace
}  // namespace flopmark
