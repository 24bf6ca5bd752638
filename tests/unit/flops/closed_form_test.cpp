#include "flops/closed_form.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "flopmark/error.h"

namespace flopmark {
namespace {

ModelShape tiny_llama() {
  return {.type = "llama",
          .preset = "",
          .vocab_size = 256,
          .hidden_size = 64,
          .layers = 2,
          .heads = 4,
          .kv_heads = 2,
          .ffn_size = 176};
}

ModelShape gpt2_124m() {
  return {.type = "gpt2",
          .preset = "",
          .vocab_size = 50257,
          .hidden_size = 768,
          .layers = 12,
          .heads = 12,
          .ffn_size = 3072,
          .tied_embeddings = true,
          .max_sequence_length = 1024};
}

ModelShape mlp() {
  return {.type = "mlp", .preset = "", .hidden_size = 512, .layers = 2, .input_size = 784, .classes = 10};
}

FlopTotals llama_flops(const ModelShape& shape, int64_t micro_batches = 1, bool fused = false) {
  return closed_form_flops(shape, {.batch_size = 2, .sequence_length = 32},
                           {.micro_batches = micro_batches, .fused_attention = fused});
}

TEST(ClosedForm, Gpt2OfOriginalSize) {
  EXPECT_EQ(count_parameters(gpt2_124m()), 124'439'808);
  const FlopTotals flops = closed_form_flops(gpt2_124m(), {.batch_size = 1, .sequence_length = 1024},
                                             {.micro_batches = 1, .fused_attention = false});
  EXPECT_EQ(flops.forward_flop, 291'648'307'200);
  EXPECT_EQ(flops.model_flop(), 874'944'921'600);
  EXPECT_EQ(flops.hardware_flop(), 874'944'921'600);
}

TEST(ClosedForm, Llama3) {
  const ModelShape small = {.type = "llama",
                            .preset = "",
                            .vocab_size = 128256,
                            .hidden_size = 4096,
                            .layers = 32,
                            .heads = 32,
                            .kv_heads = 8,
                            .ffn_size = 14336};
  const BatchShape batch = {.batch_size = 1, .sequence_length = 8192};
  EXPECT_EQ(count_parameters(small), 8'030'261'248);
  EXPECT_EQ(closed_form_flops(small, batch, {.micro_batches = 1, .fused_attention = true}).forward_flop,
            158'140'695'838'720);
  EXPECT_EQ(closed_form_flops(small, batch, {.micro_batches = 1, .fused_attention = true}).model_flop(),
            474'422'087'516'160);
  const ModelShape large = {.type = "llama",
                            .preset = "",
                            .vocab_size = 128256,
                            .hidden_size = 8192,
                            .layers = 80,
                            .heads = 64,
                            .kv_heads = 8,
                            .ffn_size = 28672};
  EXPECT_EQ(count_parameters(large), 70'553'706'496);
  const FlopTotals flops = closed_form_flops(large, batch, {.micro_batches = 1, .fused_attention = true});
  EXPECT_EQ(flops.forward_flop, 1'314'637'949'698'048);
  EXPECT_EQ(flops.model_flop(), 3'943'913'849'094'144);
  EXPECT_EQ(flops.hardware_flop(), 4'031'874'779'316'224);
}

TEST(ClosedForm, MlpNeedsNoGradientOfItsInput) {
  EXPECT_EQ(count_parameters(mlp()), 669'706);
  const FlopTotals flops =
      closed_form_flops(mlp(), {.batch_size = 64}, {.micro_batches = 1, .fused_attention = true});
  EXPECT_EQ(flops.forward_flop, 85'590'016);
  EXPECT_EQ(flops.model_flop(), 205'389'824);
  EXPECT_EQ(flops.hardware_flop(), 205'389'824);
}

TEST(ClosedForm, MlpOfOneAndOfFourSamples) {  // public case A01
  const FlopTotals one =
      closed_form_flops(mlp(), {.batch_size = 1}, {.micro_batches = 1, .fused_attention = false});
  EXPECT_EQ(one.forward_flop, 1'337'344);
  EXPECT_EQ(one.backward_flop, 1'871'872);
  EXPECT_EQ(one.model_flop(), 3'209'216);
  const FlopTotals four =
      closed_form_flops(mlp(), {.batch_size = 4}, {.micro_batches = 1, .fused_attention = false});
  EXPECT_EQ(four.forward_flop, 5'349'376);
  EXPECT_EQ(four.backward_flop, 7'487'488);
  EXPECT_EQ(four.model_flop(), 12'836'864);
}

TEST(ClosedForm, TinyLlama) {  // public cases A06, A08
  EXPECT_EQ(count_parameters(tiny_llama()), 125'248);
  EXPECT_EQ(llama_flops(tiny_llama()).forward_flop, 14'942'208);
  EXPECT_EQ(llama_flops(tiny_llama()).backward_flop, 29'884'416);
  EXPECT_EQ(llama_flops(tiny_llama()).model_flop(), 44'826'624);
  EXPECT_EQ(llama_flops(tiny_llama()).model_flop(), 6 * (92'160 + 16'384) * 64 + 12 * 2 * 64 * 32 * 64);
  EXPECT_EQ(llama_flops(tiny_llama(), 1, true).hardware_flop(), 45'350'912);
  EXPECT_EQ(llama_flops(tiny_llama(), 1, true).backward_hardware_flop, 30'408'704);
}

TEST(ClosedForm, TyingTheHeadSavesParametersOnly) {  // public case A08
  ModelShape tied = tiny_llama();
  tied.tied_embeddings = true;
  EXPECT_EQ(count_parameters(tied), 108'864);
  EXPECT_EQ(llama_flops(tied).model_flop(), 44'826'624);
  ModelShape untied = gpt2_124m();
  untied.tied_embeddings = false;
  EXPECT_EQ(count_parameters(untied), 124'439'808 + 50257 * 768);
}

TEST(ClosedForm, WiderFeedForwardCostsThreeMatrices) {  // public case A06
  ModelShape wide = tiny_llama();
  wide.ffn_size *= 2;
  EXPECT_EQ(llama_flops(wide).forward_flop, 14'942'208 + 8'650'752);
}

TEST(ClosedForm, KeyHeadsChangeTheirProjectionsOnly) {  // public case A04
  ModelShape full = tiny_llama();
  full.kv_heads = 4;
  EXPECT_EQ(llama_flops(full).forward_flop,
            15'990'784);  // key and value 64 wide, not 32: + 2 x 64 x 2 x 2 x 64 x 32
}

TEST(ClosedForm, AStepIsAllItsMicroBatches) {  // public case A09
  EXPECT_EQ(llama_flops(tiny_llama(), 4).model_flop(), 179'306'496);
  EXPECT_EQ(llama_flops(tiny_llama(), 4, true).hardware_flop(), 4 * 45'350'912);
}

TEST(ClosedForm, EncoderOfPublishedSize) {
  const ModelShape bert = {.type = "bert",
                           .preset = "",
                           .vocab_size = 30522,
                           .hidden_size = 768,
                           .layers = 12,
                           .heads = 12,
                           .ffn_size = 3072,
                           .tied_embeddings = true,
                           .max_sequence_length = 512};
  EXPECT_EQ(count_parameters(bert), 109'514'298);  // transformers.BertForMaskedLM
  ModelShape untied = bert;
  untied.tied_embeddings = false;
  EXPECT_EQ(count_parameters(untied), 109'514'298 + 30'522 * 768);
  // Per token 2 x (12 x 12 x 768 squared + 768 x (768 + 30522)) and attention's 12 x 4 x 128 x 768.
  const int64_t forward = int64_t{2 * 128} * (2 * (144 * 768 * 768 + 768 * 31'290) + 12 * 4 * 128 * 768);
  const BatchShape batch = {.batch_size = 2, .sequence_length = 128};
  const FlopTotals flops = closed_form_flops(bert, batch, {.micro_batches = 1, .fused_attention = false});
  EXPECT_EQ(flops.forward_flop, forward);
  EXPECT_EQ(flops.model_flop(), 3 * forward);
  EXPECT_EQ(flops.hardware_flop(), 3 * forward);
  // Attention looks both ways: there is no half of it to leave out.
  EXPECT_EQ(
      closed_form_flops(bert, batch, {.fused_attention = false, .causal_convention = true}).model_flop(),
      3 * forward);
}

ModelShape tiny_mixtral() {
  ModelShape shape = tiny_llama();
  shape.type = "mixtral";
  shape.experts = 4;
  shape.experts_per_token = 2;
  return shape;
}

TEST(ClosedForm, AMixtureCountsTheExpertsOfEachToken) {
  const int64_t expert = 3 * 64 * 176, router = 64 * 4;
  EXPECT_EQ(count_parameters(tiny_mixtral()), 125'248 + 2 * (3 * expert + router));
  EXPECT_EQ(count_active_parameters(tiny_mixtral()), 125'248 + 2 * (expert + router));
  EXPECT_EQ(count_matmul_parameters(tiny_mixtral()), 108'544 + 2 * (expert + router));
  EXPECT_EQ(count_active_parameters(tiny_llama()), 125'248);
  const FlopTotals flops = llama_flops(tiny_mixtral());
  EXPECT_EQ(flops.forward_flop, 14'942'208 + 2 * 64 * 2 * (expert + router));
  EXPECT_EQ(flops.backward_flop, 2 * flops.forward_flop);
  ModelShape one = tiny_mixtral();
  one.experts = one.experts_per_token = 1;
  EXPECT_EQ(llama_flops(one).forward_flop, 14'942'208 + 2 * 64 * 2 * 64);
}

TEST(ClosedForm, MixturesOfPublishedSize) {
  // Jiang et al. 2024: 47 billion parameters, 13 billion of them active; Mixtral 8x22B: 141 and 39.
  ModelShape shape = tiny_mixtral();
  shape.vocab_size = 32000;
  shape.hidden_size = 4096;
  shape.layers = shape.heads = 32;
  shape.kv_heads = shape.experts = 8;
  shape.ffn_size = 14336;
  EXPECT_EQ(count_parameters(shape), 46'702'792'704);
  EXPECT_EQ(count_active_parameters(shape), 12'879'925'248);
  shape.hidden_size = 6144;
  shape.layers = 56;
  shape.heads = 48;
  shape.ffn_size = 16384;
  EXPECT_EQ(count_parameters(shape), 140'620'634'112);
  EXPECT_EQ(count_active_parameters(shape), 39'152'031'744);
}

ModelShape lstm(int64_t vocab, int64_t hidden, int64_t layers) {
  return {.type = "lstm", .preset = "", .vocab_size = vocab, .hidden_size = hidden, .layers = layers};
}

TEST(ClosedForm, RecurrentNetworksOfPublishedSize) {
  // Two biases per gate, as LibTorch has them: the paper's 20 and 66 million.
  EXPECT_EQ(count_parameters(lstm(10000, 650, 2)),
            2 * 6'500'000 + 10'000 + 2 * (2 * 4 * 650 * 650 + 8 * 650));
  EXPECT_EQ(count_parameters(lstm(10000, 1500, 2)), 66'034'000);
}

TEST(ClosedForm, RecurrentNetworkByHand) {
  const ModelShape tiny = lstm(7, 3, 2);
  EXPECT_EQ(count_parameters(tiny), 2 * 21 + 7 + 2 * (2 * 36 + 24));
  // 5 positions of 2 sequences: two layers of two matrices of 12 x 3, a head of 7 x 3. Backward leaves out
  // the gradient of the initial state: 2 sequences x 36 x 2 layers.
  const FlopTotals flops = closed_form_flops(tiny, {.batch_size = 2, .sequence_length = 5},
                                             {.checkpoint_interval = 1, .causal_convention = true});
  EXPECT_EQ(flops.forward_flop, 2 * 10 * (4 * 36 + 21));
  EXPECT_EQ(flops.backward_flop, 2 * flops.forward_flop - 2 * 2 * 36 * 2);
  EXPECT_EQ(flops.recompute_flop, 0);
  ModelShape tied = tiny;
  tied.tied_embeddings = true;
  EXPECT_EQ(count_parameters(tied), count_parameters(tiny) - 21);
}

TEST(ClosedForm, KnowsTheDecoders) {
  EXPECT_FALSE(is_decoder(lstm(7, 3, 2)));
  EXPECT_TRUE(is_decoder(tiny_mixtral()));
  EXPECT_TRUE(is_decoder(tiny_llama()));
  EXPECT_TRUE(is_decoder(gpt2_124m()));
  EXPECT_FALSE(is_decoder(mlp()));
  EXPECT_FALSE(is_decoder({.type = "bert", .preset = ""}));
  EXPECT_FALSE(is_decoder({.type = "torchscript", .preset = ""}));
}

TEST(ClosedForm, RefusesUnknownTypesAndCountsThatDoNotFit) {
  try {
    count_parameters({.type = "resnext", .preset = ""});
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    EXPECT_STREQ(error.what(),
                 "model.type: no built-in model \"resnext\"; there are llama, gpt2, mlp, resnet, vit, bert, "
                 "convnet, mixtral, lstm");
  }
  EXPECT_THROW(closed_form_flops({.type = "llama", .preset = "", .layers = 1}, {},
                                 {.micro_batches = 1, .fused_attention = false}),
               Error);  // no heads
  EXPECT_THROW(llama_flops(tiny_llama(), int64_t{1} << 40), std::overflow_error);
}

}  // namespace
}  // namespace flopmark
