#include <gtest/gtest.h>

#include <array>

#include "flops/closed_form.h"

namespace flopmark {
namespace {

ModelShape vit_b_16() {
  return {.type = "vit",
          .preset = "",
          .hidden_size = 768,
          .layers = 12,
          .heads = 12,
          .ffn_size = 3072,
          .classes = 1000,
          .image_size = 224,
          .image_channels = 3,
          .patch_size = 16};
}

TEST(ImageForms, VisionTransformerOfPublishedSize) {
  EXPECT_EQ(count_parameters(vit_b_16()), 86'567'656);
  const FlopTotals flops =
      closed_form_flops(vit_b_16(), {.batch_size = 1}, {.micro_batches = 1, .fused_attention = false});
  EXPECT_EQ(flops.forward_flop, 35'127'656'448);
  EXPECT_EQ(flops.model_flop(), 105'151'758'336);
  EXPECT_EQ(flops.hardware_flop(), 105'151'758'336);
  // Fused attention computes Q K^T of 12 layers once more: 2 x 12 x 197 x 197 x 768.
  EXPECT_EQ(closed_form_flops(vit_b_16(), {.batch_size = 1}, {.micro_batches = 1, .fused_attention = true})
                .hardware_flop(),
            105'151'758'336 + 715'327'488);
  EXPECT_EQ(closed_form_flops(vit_b_16(), {.batch_size = 8}, {.micro_batches = 2, .fused_attention = false})
                .model_flop(),
            16 * 105'151'758'336);
}

ModelShape vit_l_16() {
  ModelShape shape = vit_b_16();
  shape.hidden_size = 1024;
  shape.layers = 24;
  shape.heads = 16;
  shape.ffn_size = 4096;
  return shape;
}

/// torchvision's 304326632 parameters and 61.55 billion multiply-adds.
TEST(ImageForms, LargeVisionTransformerOfPublishedSize) {
  EXPECT_EQ(count_parameters(vit_l_16()), 304'326'632);
  const int64_t patches = int64_t{2} * 196 * 768 * 1024, head = int64_t{2} * 1024 * 1000;
  const int64_t layer = int64_t{2} * 197 * 1024 * (4 * 1024 + 2 * 4096) + int64_t{4} * 197 * 197 * 1024;
  const FlopTotals flops =
      closed_form_flops(vit_l_16(), {.batch_size = 1}, {.micro_batches = 1, .fused_attention = false});
  EXPECT_EQ(flops.forward_flop, patches + 24 * layer + head);
  EXPECT_EQ(flops.forward_flop, 123'109'425'152);
  EXPECT_EQ(flops.model_flop(), 3 * flops.forward_flop - patches) << "an image has no gradient";
}

ModelShape resnet(const std::array<int64_t, 4>& blocks, bool bottleneck) {
  return {.type = "resnet",
          .preset = "",
          .hidden_size = 64,
          .classes = 1000,
          .image_size = 224,
          .image_channels = 3,
          .stage_blocks = blocks,
          .bottleneck = bottleneck};
}

TEST(ImageForms, ResidualNetworksOfPublishedSize) {
  const ModelShape deep = resnet({3, 4, 6, 3}, true);
  EXPECT_EQ(count_parameters(deep), 25'557'032);
  const FlopTotals flops =
      closed_form_flops(deep, {.batch_size = 1}, {.micro_batches = 1, .fused_attention = true});
  EXPECT_EQ(flops.forward_flop, 8'178'368'512);
  EXPECT_EQ(flops.model_flop(), 24'299'077'632);
  EXPECT_EQ(flops.hardware_flop(), 24'299'077'632);
  EXPECT_EQ(
      closed_form_flops(deep, {.batch_size = 4}, {.micro_batches = 3, .fused_attention = true}).model_flop(),
      12 * 24'299'077'632);
  // torchvision's figures.
  EXPECT_EQ(count_parameters(resnet({2, 2, 2, 2}, false)), 11'689'512);
  EXPECT_EQ(count_parameters(resnet({3, 4, 6, 3}, false)), 21'797'672);
  EXPECT_EQ(closed_form_flops(resnet({2, 2, 2, 2}, false), {.batch_size = 1},
                              {.micro_batches = 1, .fused_attention = true})
                .forward_flop,
            3'628'146'688);
}

TEST(ImageForms, ResidualNetworkByHand) {
  ModelShape tiny = resnet({1, 1, 1, 1}, false);
  tiny.hidden_size = tiny.image_channels = tiny.classes = 1;
  tiny.image_size = 8;
  // Stem 4 x 4 outputs of 49; pooled to 2 x 2. Stage 1: 3x3 twice on 2 x 2. Stage 2, 1 x 1 from here on, 1 to
  // 2 channels: 18 + 36, shortcut 2. Stage 3, 2 to 4: 72 + 144, 8. Stage 4, 4 to 8: 288 + 576, 32. Head 8.
  const int64_t stem = 2 * 16 * 49;
  const int64_t rest = 2 * (4 * (9 + 9) + 18 + 36 + 2 + 72 + 144 + 8 + 288 + 576 + 32 + 8);
  const FlopTotals flops =
      closed_form_flops(tiny, {.batch_size = 1}, {.micro_batches = 1, .fused_attention = true});
  EXPECT_EQ(flops.forward_flop, stem + rest);
  EXPECT_EQ(flops.backward_flop, stem + 2 * rest);
  // Weights 49 + 18 + 56 + 224 + 896, norms 2 x (1 + 2 + 3 x 2 + 3 x 4 + 3 x 8), head 8 + 1.
  EXPECT_EQ(count_parameters(tiny), 49 + 18 + 56 + 224 + 896 + 90 + 9);
}

ModelShape mobilenet(int64_t width) {
  return {.type = "convnet",
          .preset = "",
          .hidden_size = width,
          .classes = 1000,
          .image_size = 224,
          .image_channels = 3,
          .stage_blocks = {2, 2, 6, 2}};
}

TEST(ImageForms, DepthwiseNetworkOfPublishedSize) {
  // Howard et al. 2017, table 6: 4.2, 1.3 and 0.5 million parameters, 569, 149 and 41 million multiply-adds;
  // the first to the last digit as Keras counts its trainable ones.
  EXPECT_EQ(count_parameters(mobilenet(32)), 4'231'976);
  EXPECT_EQ(count_parameters(mobilenet(16)), 1'331'592);
  EXPECT_EQ(count_parameters(mobilenet(8)), 470'072);
  const auto forward = [](int64_t width) {
    return closed_form_flops(mobilenet(width), {.batch_size = 1}, {}).forward_flop;
  };
  EXPECT_EQ(forward(32), 2 * 568'740'352);
  EXPECT_EQ(forward(16), 2 * 149'497'088);
  EXPECT_EQ(forward(8), 2 * 41'030'272);
  const FlopTotals flops = closed_form_flops(mobilenet(32), {.batch_size = 3}, {.micro_batches = 2});
  const int64_t stem = 2 * 112 * 112 * 3 * 32 * 9;
  EXPECT_EQ(flops.backward_flop, 6 * (int64_t{4} * 568'740'352 - stem));
}

TEST(ImageForms, DepthwiseNetworkByHand) {
  ModelShape tiny = mobilenet(1);
  tiny.image_channels = tiny.classes = 1;
  tiny.image_size = 8;
  tiny.stage_blocks = {1, 1, 1, 2};
  // Stem 4 x 4 outputs of 9. Blocks of 1 to 2 channels on 4 x 4 (9 + 2), 2 to 4 on 2 x 2 (18 + 8), 4 to 8 on
  // one (36 + 32), 8 to 16 (72 + 128), 16 to 32 (144 + 512), 32 to 32 (288 + 1024). Head 32.
  const int64_t stem = 2 * 16 * 9;
  const int64_t last = 2 * (288 + 1024);
  const int64_t rest = 2 * (16 * 11 + 4 * 26 + 68 + 200 + 656 + 32) + last;
  const FlopTotals flops = closed_form_flops(tiny, {.batch_size = 1}, {.checkpoint_interval = 5});
  EXPECT_EQ(flops.forward_flop, stem + rest);
  EXPECT_EQ(flops.backward_flop, stem + 2 * rest);
  EXPECT_EQ(flops.recompute_flop, 2 * 16 * 11 + last);  // blocks 0 and 5 of six
}

}  // namespace
}  // namespace flopmark
