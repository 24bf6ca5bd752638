#include "models/models.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/presets.h"
#include "flopmark/error.h"
#include "unit/models/shapes.h"

namespace flopmark {
namespace {

using ::testing::HasSubstr;

int64_t parameters_on_meta(const ModelShape& shape) {
  const auto model = make_model(shape, {torch::TensorOptions(torch::kMeta), 0});
  int64_t count = 0;
  for (const auto& parameter : model->parameters()) {
    EXPECT_TRUE(parameter.is_meta());
    EXPECT_TRUE(parameter.requires_grad());
    count += parameter.numel();
  }
  return count;
}

TEST(Models, HaveThePublishedNumberOfParameters) {
  EXPECT_EQ(parameters_on_meta(test::tiny_llama()), 125'248);
  EXPECT_EQ(parameters_on_meta(test::llama_3(4096, 32, 32, 14336)), 8'030'261'248);
  EXPECT_EQ(parameters_on_meta(test::llama_3(8192, 80, 64, 28672)), 70'553'706'496);
  EXPECT_EQ(parameters_on_meta(test::gpt2(50257, 768, 12, 12, 1024)), 124'439'808);
  EXPECT_EQ(parameters_on_meta(test::mnist_mlp()), 669'706);
  EXPECT_EQ(parameters_on_meta(*find_preset("resnet18")), 11'689'512);
  EXPECT_EQ(parameters_on_meta(*find_preset("resnet34")), 21'797'672);
  EXPECT_EQ(parameters_on_meta(*find_preset("resnet50")), 25'557'032);
  EXPECT_EQ(parameters_on_meta(*find_preset("resnet101")), 44'549'160);
  EXPECT_EQ(parameters_on_meta(*find_preset("resnet152")), 60'192'808);
  EXPECT_EQ(parameters_on_meta(*find_preset("vit-b-16")), 86'567'656);
  EXPECT_EQ(parameters_on_meta(*find_preset("vit-l-16")), 304'326'632);
  EXPECT_EQ(parameters_on_meta(*find_preset("mobilenet-v1")), 4'231'976);
  EXPECT_EQ(parameters_on_meta(*find_preset("mixtral-8x7b")), 46'702'792'704);
  EXPECT_EQ(parameters_on_meta(*find_preset("mixtral-8x22b")), 140'620'634'112);
  // Press and Wolf 2016, arXiv:1608.05859, table 3: Zaremba et al.'s large model has 66 million.
  EXPECT_EQ(parameters_on_meta(*find_preset("lstm-ptb-large")), 66'034'000);
  // bert-base-uncased and bert-large-uncased as transformers.BertForMaskedLM: without the pooler and the
  // next-sentence head (590,592 + 1,538 and 1,049,600 + 2,050), which the 110,106,428 and 336,226,108 of the
  // published files include.
  EXPECT_EQ(parameters_on_meta(*find_preset("bert-base")), 110'106'428 - 590'592 - 1'538);
  EXPECT_EQ(parameters_on_meta(*find_preset("bert-large")), 336'226'108 - 1'049'600 - 2'050);
}

TEST(Models, CountASharedEmbeddingOnce) {
  auto shape = test::tiny_llama();
  shape.tied_embeddings = true;
  EXPECT_EQ(parameters_on_meta(shape), 108'864);
  auto untied = test::gpt2(50257, 768, 12, 12, 1024);
  untied.tied_embeddings = false;
  EXPECT_EQ(parameters_on_meta(untied), 124'439'808 + 50257 * 768);
}

TEST(Models, StartFromTheSeedAlone) {
  for (const auto& shape : {test::tiny_llama(), test::gpt2(100, 32, 2, 4, 16), test::mnist_mlp(),
                            test::tiny_vit(), test::tiny_resnet(true), test::tiny_bert(),
                            test::tiny_convnet(), test::tiny_mixtral(), test::tiny_lstm()}) {
    const auto one = make_model(shape, {{}, 7})->parameters();
    const auto same = make_model(shape, {{}, 7})->parameters();
    const auto other = make_model(shape, {{}, 8})->parameters();
    ASSERT_EQ(one.size(), same.size());
    size_t changed = 0;
    for (size_t i = 0; i < one.size(); ++i) {
      changed += one[i].equal(other[i]) ? 0 : 1;
      EXPECT_TRUE(one[i].equal(same[i])) << shape.type << ' ' << i;
    }
    EXPECT_GT(changed, 0U) << shape.type;
  }
}

TEST(Models, NameTheirInput) {
  EXPECT_EQ(input_kind(test::tiny_llama()), InputKind::tokens);
  EXPECT_EQ(input_kind(test::gpt2(100, 32, 2, 4, 16)), InputKind::tokens);
  EXPECT_EQ(input_kind(test::tiny_bert()), InputKind::tokens);
  EXPECT_EQ(input_kind(test::tiny_mixtral()), InputKind::tokens);
  EXPECT_EQ(input_kind(test::tiny_lstm()), InputKind::tokens);
  EXPECT_EQ(input_kind(test::mnist_mlp()), InputKind::images);
  EXPECT_EQ(input_kind(test::tiny_resnet(false)), InputKind::images);
  EXPECT_EQ(input_kind(test::tiny_vit()), InputKind::images);
  EXPECT_EQ(input_kind(test::tiny_convnet()), InputKind::images);
}

TEST(Models, RefuseAnUnknownType) {
  ModelShape shape;
  shape.type = "lama";
  try {
    make_model(shape, {});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    EXPECT_STREQ(error.what(),
                 "model.type: unknown \"lama\"; known are llama, gpt2, mlp, resnet, vit, bert, convnet, "
                 "mixtral, lstm");
  }
}

TEST(Models, RefuseHeadsThatDoNotDivide) {
  const auto text = [](const ModelShape& shape) -> std::string {
    try {
      make_model(shape, {torch::TensorOptions(torch::kMeta), 0});
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::usage);
      return error.what();
    }
    return "accepted";
  };
  auto llama = test::tiny_llama();
  llama.kv_heads = 3;
  EXPECT_THAT(text(llama), HasSubstr("model.kv_heads: 3 does not divide model.heads = 4"));
  llama = test::tiny_llama();
  llama.hidden_size = 68;  // 17 values per head: no pairs
  EXPECT_THAT(text(llama), HasSubstr("model.hidden_size: 68 is not a multiple of 2 x model.heads = 8"));
  auto vit = test::tiny_vit();
  vit.heads = 3;
  EXPECT_THAT(text(vit), HasSubstr("model.heads: 3 does not divide model.hidden_size = 16"));
  vit = test::tiny_vit();
  vit.patch_size = 3;
  EXPECT_THAT(text(vit), HasSubstr("model.patch_size: 3 does not divide data.image_size = 8"));
  EXPECT_THAT(text(test::gpt2(100, 32, 2, 5, 16)),
              HasSubstr("model.heads: 5 does not divide model.hidden_size = 32"));
}

}  // namespace
}  // namespace flopmark
