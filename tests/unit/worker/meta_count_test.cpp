#include "worker/meta_count.h"

#include <gtest/gtest.h>

#include <map>

#include "config/presets.h"
#include "flopmark/error.h"
#include "flops/closed_form.h"
#include "worker/job.h"

namespace flopmark {
namespace {

RunConfig tiny(const std::vector<std::string>& sets) {
  return load_config(FLOPMARK_SOURCE_DIR "/configs/llama-tiny-cpu.json", sets);
}

void expect_equal_counts(const FlopTotals& a, const FlopTotals& b) {
  EXPECT_EQ(a.forward_flop, b.forward_flop);
  EXPECT_EQ(a.backward_flop, b.backward_flop);
  EXPECT_EQ(a.backward_hardware_flop, b.backward_hardware_flop);
  EXPECT_EQ(a.recompute_flop, b.recompute_flop);
  ASSERT_EQ(a.by_operator.size(), b.by_operator.size());
  for (size_t i = 0; i < a.by_operator.size(); ++i) {
    EXPECT_EQ(a.by_operator[i].name, b.by_operator[i].name);
    EXPECT_EQ(a.by_operator[i].calls, b.by_operator[i].calls);
    EXPECT_EQ(a.by_operator[i].hardware_flop, b.by_operator[i].hardware_flop);
  }
  ASSERT_EQ(a.by_module.size(), b.by_module.size());
  for (size_t i = 0; i < a.by_module.size(); ++i) {
    EXPECT_EQ(a.by_module[i].path, b.by_module[i].path);
    EXPECT_EQ(a.by_module[i].hardware_flop(), b.by_module[i].hardware_flop()) << a.by_module[i].path;
  }
  EXPECT_EQ(a.by_precision.size(), b.by_precision.size());
}

/// On meta and in a real step on the CPU.
void expect_meta_equals_real(const RunConfig& config) {
  const MetaCount meta = count_on_meta(config);
  Job job = make_job(config);
  const auto step = make_step(job, config);
  expect_equal_counts(meta.flops, step->count());
  EXPECT_EQ(meta.parameters, step->parameters());
}

TEST(MetaCount, EqualsARealStep) {
  expect_meta_equals_real(tiny({}));
  expect_meta_equals_real(tiny({"train.gradient_accumulation=3", "train.activation_checkpointing=full"}));
  expect_meta_equals_real(tiny({"train.attention_kernel=unfused", "measure.attention_convention=causal"}));
  for (const char* precision : {"bf16-mixed", "fp16-mixed", "bf16"}) {
    expect_meta_equals_real(
        tiny({std::string("train.precision=") + precision, "train.activation_checkpointing=2"}));
  }
  expect_meta_equals_real(
      tiny({"model.type=gpt2", "model.preset=gpt2-124m", "model.layers=2", "model.vocab_size=300"}));
  expect_meta_equals_real(load_config(FLOPMARK_SOURCE_DIR "/configs/mlp-cpu.json"));
  expect_meta_equals_real(tiny({"model.type=bert", "model.preset=bert-base", "model.layers=2",
                                "model.vocab_size=300", "train.activation_checkpointing=2"}));
}

/// Which experts a token meets is not known on meta, and changes the rows of single experts only.
TEST(MetaCount, OfAMixtureEqualsARealStepInTotalAndByOperator) {
  const RunConfig config = tiny({"model.preset=mixtral-tiny", "model.type=mixtral",
                                 "train.activation_checkpointing=2", "train.gradient_accumulation=2"});
  const FlopTotals meta = count_on_meta(config).flops;
  Job job = make_job(config);
  const auto step = make_step(job, config);
  FlopTotals real = step->count();
  ASSERT_EQ(meta.by_module.size(), real.by_module.size());
  real.by_module = meta.by_module;
  expect_equal_counts(meta, real);
}

TEST(MetaCount, TinyLlamaByHand) {
  const MetaCount count = count_on_meta(tiny({}));
  EXPECT_EQ(count.parameters, 125'248);
  EXPECT_EQ(count.flops.forward_flop, 14'942'208);
  EXPECT_EQ(count.flops.model_flop(), 44'826'624);
  EXPECT_EQ(count.flops.hardware_flop(), 45'350'912);
  std::map<std::string, ModuleFlops> modules;
  for (const auto& row : count.flops.by_module) modules[row.path] = row;
  EXPECT_EQ(modules.at("layers.1.attention.wq").forward_flop, 2 * 64 * 64 * 64);
  EXPECT_EQ(modules.at("layers.1.attention.wq").backward_flop, 2 * 2 * 64 * 64 * 64);
  EXPECT_EQ(modules.at("layers.0.attention.wk").forward_flop, 2 * 64 * 64 * 32);
  EXPECT_EQ(modules.at("layers.0.attention").forward_flop, 1'048'576 / 2);
  EXPECT_EQ(modules.at("output").forward_flop, 2'097'152);
  EXPECT_EQ(modules.count(""), 0u);
}

TEST(MetaCount, AccumulationMultiplies) {
  EXPECT_EQ(count_on_meta(tiny({"train.gradient_accumulation=4"})).flops.model_flop(), 179'306'496);
}

struct Golden {
  const char* preset;
  int64_t length, parameters, forward, model, hardware_recomputed;
};

// The rows of ../shared/cases/flops-golden.md: unfused, batch 1.
TEST(MetaCount, GoldenTransformers) {
  const Golden rows[] = {
      {"gpt2-124m", 1024, 124'439'808, 291'648'307'200, 874'944'921'600, 1'087'545'802'752},
      {"llama-3-8b", 8192, 8'030'261'248, 158'140'695'838'720, 474'422'087'516'160, 623'955'668'893'696},
      {"llama-3-70b", 8192, 70'553'706'496, 1'314'637'949'698'048, 3'943'913'849'094'144, 0}};
  for (const Golden& row : rows) {
    const auto count = [&](const char* kernel, const char* checkpointing) {
      return count_on_meta(
          load_config(FLOPMARK_SOURCE_DIR "/configs/llama-tiny-cpu.json",
                      {std::string("model.type=") + (row.preset[0] == 'g' ? "gpt2" : "llama"),
                       std::string("model.preset=") + row.preset, "data.batch_size=1",
                       "data.sequence_length=" + std::to_string(row.length), "train.precision=bf16",
                       std::string("train.attention_kernel=") + kernel,
                       std::string("train.activation_checkpointing=") + checkpointing}));
    };
    const MetaCount unfused = count("unfused", "none");
    EXPECT_EQ(unfused.parameters, row.parameters) << row.preset;
    EXPECT_EQ(unfused.flops.forward_flop, row.forward);
    EXPECT_EQ(unfused.flops.model_flop(), row.model);
    EXPECT_EQ(unfused.flops.hardware_flop(), row.model);
    if (row.hardware_recomputed > 0) {
      EXPECT_EQ(count("unfused", "full").flops.hardware_flop(), row.hardware_recomputed) << row.preset;
    }
  }
}

TEST(MetaCount, GoldenImageModels) {
  const Golden rows[] = {{"vit-b-16", 0, 86'567'656, 35'127'656'448, 105'151'758'336, 0},
                         {"vit-l-16", 0, 304'326'632, 123'109'425'152, 369'019'994'112, 0},
                         {"resnet50", 0, 25'557'032, 8'178'368'512, 24'299'077'632, 0}};
  for (const Golden& row : rows) {
    const MetaCount count = count_on_meta(
        load_config(FLOPMARK_SOURCE_DIR "/configs/mlp-cpu.json",
                    {std::string("model.type=") + (row.preset[0] == 'v' ? "vit" : "resnet"),
                     std::string("model.preset=") + row.preset, "data.image_size=224",
                     "data.image_channels=3", "data.batch_size=1", "train.attention_kernel=unfused"}));
    EXPECT_EQ(count.parameters, row.parameters) << row.preset;
    EXPECT_EQ(count.flops.forward_flop, row.forward) << row.preset;
    EXPECT_EQ(count.flops.model_flop(), row.model) << row.preset;
    EXPECT_EQ(count.flops.hardware_flop(), row.model) << row.preset;
  }
}

TEST(MetaCount, EqualsTheClosedFormOfEveryPreset) {
  for (const ModelShape& preset : model_presets()) {
    const bool images = preset.image_size > 0;
    const RunConfig config = load_config(
        FLOPMARK_SOURCE_DIR "/configs/" + std::string(images ? "mlp-cpu.json" : "llama-tiny-cpu.json"),
        {"model.type=" + preset.type, "model.preset=" + preset.preset, "data.batch_size=2",
         images ? "data.image_size=" + std::to_string(preset.image_size) : "data.sequence_length=16",
         images ? "data.image_channels=" + std::to_string(preset.image_channels) : "data.shuffle=true"});
    const FlopTotals formula = closed_form_flops(config.model, {.batch_size = 2, .sequence_length = 16}, {});
    const MetaCount count = count_on_meta(config);
    EXPECT_EQ(count.parameters, count_parameters(preset)) << preset.preset;
    EXPECT_EQ(count.flops.forward_flop, formula.forward_flop) << preset.preset;
    EXPECT_EQ(count.flops.backward_flop, formula.backward_flop) << preset.preset;
    EXPECT_EQ(count.flops.backward_hardware_flop, formula.backward_hardware_flop) << preset.preset;
    EXPECT_FALSE(count.flops.lower_bound) << preset.preset;
  }
}

TEST(MetaCount, FusedAttentionComputesMoreInHardware) {
  const MetaCount fused = count_on_meta(
      load_config(FLOPMARK_SOURCE_DIR "/configs/llama-tiny-cpu.json",
                  {"model.preset=llama-3-70b", "data.batch_size=1", "data.sequence_length=8192"}));
  EXPECT_EQ(fused.flops.hardware_flop(), 4'031'874'779'316'224);
}

TEST(MetaCount, RefusesACountBeyond64Bits) {
  EXPECT_THROW(count_on_meta(tiny(
                   {"model.preset=llama-3-70b", "data.batch_size=1000000", "data.sequence_length=1000000"})),
               std::overflow_error);
}

}  // namespace
}  // namespace flopmark
