#include "flops/transformer_shape.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "config/presets.h"
#include "flopmark/error.h"

namespace flopmark {
namespace {

using ::testing::HasSubstr;

/// One block: attention 256, feed-forward 512, output 80; norms 48, biases 72, positions 32.
ModelShape small_gpt2() {
  return {.type = "gpt2",
          .preset = "",
          .vocab_size = 10,
          .hidden_size = 8,
          .layers = 1,
          .heads = 2,
          .ffn_size = 32,
          .tied_embeddings = true,
          .max_sequence_length = 4};
}

std::string error_of(const ModelShape& model, const TransformerOptions& options) {
  try {
    transformer_shape(model, options);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return error.what();
  }
  return "";
}

TEST(TransformerShapeOf, TinyLlama) {  // public case A08
  const TransformerShape shape = transformer_shape(*find_preset("llama-tiny"), {.sequence_length = 32});
  EXPECT_EQ(shape.layers, 2);
  EXPECT_EQ(shape.heads, 4);
  EXPECT_EQ(shape.head_size, 16);
  EXPECT_EQ(shape.hidden_size, 64);
  EXPECT_EQ(shape.sequence_length, 32);
  EXPECT_EQ(shape.parameters, 125'248);
  EXPECT_EQ(shape.matmul_parameters, 108'544);
  EXPECT_EQ(shape.output_parameters, 16'384);
  EXPECT_EQ(shape.parameters_without_input_embedding, 108'864);
}

TEST(TransformerShapeOf, AMixtureIsWhatATokenMeets) {
  const TransformerShape shape = transformer_shape(*find_preset("mixtral-8x7b"), {.sequence_length = 4096});
  EXPECT_EQ(shape.parameters, 12'879'925'248);
  EXPECT_EQ(shape.matmul_parameters, 12'879'925'248 - 65 * 4096 - 32000 * 4096);  // norms, input embedding
}

TEST(TransformerShapeOf, TyingTheOutputChangesParametersOnly) {  // public case A08
  ModelShape model = *find_preset("llama-tiny");
  model.tied_embeddings = true;
  const TransformerShape shape = transformer_shape(model, {.sequence_length = 32});
  EXPECT_EQ(shape.parameters, 108'864);
  EXPECT_EQ(shape.parameters_without_input_embedding, 108'864);
  EXPECT_EQ(shape.matmul_parameters, 108'544);
}

TEST(TransformerShapeOf, LearnedPositionsCountAndAreNoMatmul) {
  const TransformerShape shape = transformer_shape(small_gpt2(), {.sequence_length = 4});
  EXPECT_EQ(shape.parameters, 256 + 512 + 80 + 48 + 72 + 32);
  EXPECT_EQ(shape.matmul_parameters, 256 + 512 + 80);
  EXPECT_EQ(shape.head_size, 4);
}

TEST(TransformerShapeOf, WiderHeadsWidenTheirMatrices) {
  // gpt2: query, key, value and output are 8 x 16 each instead of 8 x 8; three biases of 16 instead of 8.
  const TransformerShape gpt2 = transformer_shape(small_gpt2(), {.sequence_length = 4, .head_size = 8});
  EXPECT_EQ(gpt2.head_size, 8);
  EXPECT_EQ(gpt2.matmul_parameters, 848 + 256);
  EXPECT_EQ(gpt2.parameters, 1000 + 256 + 24);
  // llama: query and output 64 x 128, key and value 64 x 64; no biases.
  const TransformerShape llama =
      transformer_shape(*find_preset("llama-tiny"), {.sequence_length = 32, .head_size = 32});
  EXPECT_EQ(llama.matmul_parameters, 108'544 + 2 * 12'288);
  EXPECT_EQ(llama.parameters, 125'248 + 2 * 12'288);
}

TEST(TransformerShapeOf, TheDefaultHeadSizeGivenByHandChangesNothing) {
  for (const char* preset : {"llama-3-8b", "gpt2-1558m"}) {
    const ModelShape& model = *find_preset(preset);
    const TransformerShape by_hand =
        transformer_shape(model, {.sequence_length = 1024, .head_size = model.hidden_size / model.heads});
    const TransformerShape own = transformer_shape(model, {.sequence_length = 1024});
    EXPECT_EQ(by_hand.parameters, own.parameters) << preset;
    EXPECT_EQ(by_hand.matmul_parameters, own.matmul_parameters) << preset;
  }
}

TEST(TransformerShapeOf, ParametersGivenByHandReplaceN) {
  const TransformerShape shape =
      transformer_shape(*find_preset("llama-tiny"), {.sequence_length = 32, .parameters = 200'000});
  EXPECT_EQ(shape.parameters, 200'000);
  EXPECT_EQ(shape.parameters_without_input_embedding, 200'000 - 16'384);
  EXPECT_EQ(shape.matmul_parameters, 108'544);
}

TEST(TransformerShapeOf, RefusesWhatIsNoShape) {
  const ModelShape tiny = *find_preset("llama-tiny");
  EXPECT_THAT(error_of(*find_preset("mlp-784-512-512-10"), {.sequence_length = 32}), HasSubstr("mlp"));
  EXPECT_THAT(error_of(tiny, {}), HasSubstr("sequence length: 0"));
  ModelShape flat = tiny;
  flat.layers = 0;
  EXPECT_THAT(error_of(flat, {.sequence_length = 32}), HasSubstr("model.layers: 0"));
  EXPECT_EQ(error_of(tiny, {.sequence_length = 32, .parameters = 16'384}),
            "16384 parameters are no more than the 16384 of the input embedding alone; give all of the "
            "model's");
  ModelShape huge = tiny;
  huge.vocab_size = int64_t{1} << 60;
  EXPECT_THROW(transformer_shape(huge, {.sequence_length = 32}), std::overflow_error);
}

}  // namespace
}  // namespace flopmark
