#include "config/run_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <regex>

#include "config/key_value.h"
#include "config/presets.h"
#include "config_files.h"

namespace flopmark {
namespace {

using nlohmann::json;
using testing::HasSubstr;

void expect_same(const RunConfig& a, const RunConfig& b) {
  for (const KeyRow& row : config_keys()) EXPECT_EQ(value_of(row, a), value_of(row, b)) << row.path;
}

void expect_round_trip(const RunConfig& config) {
  const json written = to_json(config);
  const RunConfig back = config_from_resolved(json::parse(written.dump()));
  expect_same(config, back);
  EXPECT_EQ(to_json(back), written);
}

TEST(RunConfig, EmptyConfigHasTheDefaults) {
  const RunConfig config = load_text("{}");
  EXPECT_EQ(config.name, "run");
  EXPECT_EQ(config.file.filename(), "run.json");
  const RunConfig fresh;
  EXPECT_EQ(config.data.batch_size, fresh.data.batch_size);
  EXPECT_EQ(config.train.optimizer.lr, fresh.train.optimizer.lr);
  EXPECT_EQ(config.measure.steps, 50);
  EXPECT_EQ(config.peak_flop_per_s, std::nullopt);
  EXPECT_EQ(to_json(config), json::parse(R"({
    "name": "run", "device": "auto", "peak": {"flop_per_s": null},
    "model": {"type": "llama", "preset": "llama-tiny", "vocab_size": 256, "hidden_size": 64, "layers": 2,
              "heads": 4, "kv_heads": 2, "ffn_size": 176, "tied_embeddings": false},
    "data": {"type": "synthetic", "batch_size": 1, "sequence_length": 128, "workers": 2, "prefetch": 4,
             "pin_memory": true, "drop_last": true, "shuffle": true, "seed": 0},
    "train": {"precision": "fp32", "gradient_accumulation": 1, "gradient_clip": null,
              "activation_checkpointing": "none", "attention_kernel": "auto", "seed": 0, "optimizer": {"type": "adamw", "lr": 3e-4,
                "weight_decay": 0.01, "beta1": 0.9,
                                       "beta2": 0.999, "eps": 1e-8}},
    "measure": {"warmup_min_steps": 10, "warmup_max_steps": 200, "warmup_max_s": 120.0, "steps": 50,
                "repeats": 10, "timeout_s": 3600.0, "threads": 0, "attention_convention": "full", "loader": "normal"}})"));
}

TEST(RunConfig, EveryKeyReachesItsPlace) {
  const ConfigFiles files;
  files.write("c.bin", "xx");
  const RunConfig c = load_config(files.write("run.json", R"({
    "name": "n", "device": "cuda:1", "peak": {"flop_per_s": 1e12},
    "model": {"vocab_size": 300, "hidden_size": 96, "layers": 5, "heads": 6, "kv_heads": 3, "ffn_size": 7,
              "tied_embeddings": true},
    "data": {"type": "tokens", "path": "c.bin", "format": "llmc", "batch_size": 8, "sequence_length": 9,
             "workers": 10, "prefetch": 11, "pin_memory": false, "drop_last": false, "shuffle": false,
              "seed": 12},
    "train": {"precision": "bf16", "optimizer": {"type": "sgd", "lr": 0.5, "weight_decay": 0.25,
             "momentum": 0.125}, "gradient_accumulation": 13, "gradient_clip": 2,
              "attention_kernel": "unfused", "seed": 14},
    "measure": {"warmup_min_steps": 15, "warmup_max_steps": 16, "warmup_max_s": 17, "steps": 18,
                "repeats": 19, "timeout_s": 20, "threads": 21}})"));
  EXPECT_EQ(c.name + c.device + c.data.type + c.data.format + c.train.precision + c.train.optimizer.type +
                c.train.attention_kernel,
            "ncuda:1tokensllmcbf16sgdunfused");
  const std::vector<int64_t> counts = {c.model.vocab_size,
                                       c.model.hidden_size,
                                       c.model.layers,
                                       c.model.heads,
                                       c.model.kv_heads,
                                       c.model.ffn_size,
                                       c.data.batch_size,
                                       c.data.sequence_length,
                                       c.data.workers,
                                       c.data.prefetch,
                                       c.data.seed,
                                       c.train.gradient_accumulation,
                                       c.train.seed,
                                       c.measure.warmup_min_steps,
                                       c.measure.warmup_max_steps,
                                       c.measure.steps,
                                       c.measure.repeats,
                                       c.measure.threads};
  EXPECT_EQ(counts,
            (std::vector<int64_t>{300, 96, 5, 6, 3, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 18, 19, 21}));
  EXPECT_TRUE(c.model.tied_embeddings);
  EXPECT_FALSE(c.data.pin_memory || c.data.drop_last || c.data.shuffle);
  EXPECT_EQ(c.train.optimizer.lr + c.train.optimizer.weight_decay + c.train.optimizer.momentum, 0.875);
  EXPECT_EQ(c.train.gradient_clip, 2.0);
  EXPECT_EQ(c.measure.warmup_max_s + c.measure.timeout_s, 37.0);
  EXPECT_EQ(c.peak_flop_per_s, 1e12);
}

TEST(RunConfig, NameComesFromTheFile) {
  const ConfigFiles files;
  EXPECT_EQ(load_config(files.write("llama.tiny-2.json", "{}")).name, "llama.tiny-2");
  EXPECT_EQ(load_config(files.write("llama tiny.json", R"({"name": "ok"})")).name, "ok");
  EXPECT_THAT(refusal([&] { load_config(files.write("llama tiny.json", "{}")); }),
              HasSubstr("the file's name \"llama tiny\" cannot be the run's name (1 to 64 characters"));
  EXPECT_EQ(load_config(files.path("llama tiny.json"), {"name=set"}).name, "set");
  files.write("base.json", R"({"name": "base"})");
  EXPECT_EQ(load_config(files.write("derived.json", R"({"extends": "base.json"})")).name, "derived");
  EXPECT_THAT(refused_text(R"({"name": "../x"})"),
              HasSubstr("name: found \"../x\", expected 1 to 64 characters"));
}

TEST(RunConfig, SetsWinOverFilesAndLaterOverEarlier) {
  const std::string text = R"({"measure": {"steps": 1}})";
  EXPECT_EQ(load_text(text, {"measure.steps=2", "measure.steps=3"}).measure.steps, 3);
  EXPECT_EQ(load_text(text).measure.steps, 1);
}

TEST(RunConfig, PresetsRoundTrip) {
  for (const ModelShape& preset : model_presets()) {
    RunConfig config = load_text("{}", {"model.preset=" + preset.preset});
    EXPECT_EQ(config.model.hidden_size, preset.hidden_size);
    expect_round_trip(config);
  }
}

TEST(RunConfig, PathWithSpecialCharactersRoundTrips) {
  const ConfigFiles files;
  const auto data = files.write("a \"ü\"\n.bin", "xx");
  const RunConfig config =
      load_config(files.write("run.json", R"({"data": {"type": "text", "path": "a \"ü\"\n.bin"}})"));
  EXPECT_EQ(config.data.path, data.string());
  expect_round_trip(config);
}

TEST(RunConfig, RandomValuesRoundTrip) {
  std::mt19937_64 random(7);
  const auto number = [&](int64_t low, int64_t high) {
    return std::to_string(std::uniform_int_distribution<int64_t>(low, high)(random));
  };
  const auto real = [&] {
    return json(std::ldexp(static_cast<double>(random()), -70 - static_cast<int>(random() % 9))).dump();
  };
  for (int i = 0; i < 200; ++i) {
    const ModelShape& preset = model_presets()[random() % model_presets().size()];
    std::vector<std::string> sets = {"model.preset=" + preset.preset,
                                     "data.batch_size=" + number(1, 2147483647),
                                     "data.seed=" + number(0, std::numeric_limits<int64_t>::max()),
                                     "data.shuffle=" + std::string(random() % 2 == 0 ? "true" : "false"),
                                     "train.optimizer.lr=" + real(),
                                     "train.optimizer.weight_decay=" + real(),
                                     "train.gradient_clip=" + (random() % 2 == 0 ? "null" : real()),
                                     "measure.timeout_s=" + real(),
                                     "peak.flop_per_s=" + number(1, 1000000000000000)};
    if (preset.layers > 0) sets.push_back("model.layers=" + number(1, 65536));
    sets.push_back(random() % 2 == 0 ? "train.optimizer={\"type\": \"sgd\", \"momentum\": " + real() + "}"
                                     : "train.optimizer.beta1=" + real());
    expect_round_trip(load_text("{}", sets));
  }
}

TEST(RunConfig, ConfigsMadeByCodeMayLackNameAndPreset) {
  RunConfig config = load_text("{}");
  config.name.clear();
  config.model.preset.clear();
  EXPECT_FALSE(to_json(config).contains("name"));
  expect_round_trip(config);
}

TEST(RunConfig, WhatIsNotResolvedIsOurOwnFault) {
  const json good = to_json(load_text("{}"));
  const auto refused = [](const json& value) {
    return refusal([&] { config_from_resolved(value); }, ExitCode::internal);
  };
  EXPECT_THAT(refused(json::object()), HasSubstr("is missing; please report this"));
  EXPECT_THAT(refused(nullptr), HasSubstr("not a resolved config: "));
  for (const KeyRow& row : config_keys()) {
    const json::json_pointer at("/" + std::regex_replace(row.path, std::regex("[.]"), "/"));
    if (!good.contains(at) || row.path == "name" || row.path == "model.preset") continue;
    json less = good;
    less[at.parent_pointer()].erase(at.back());
    EXPECT_THAT(refused(less), HasSubstr(row.path + " is missing")) << row.path;
  }
  json more = good;
  more["model"]["classes"] = 3;
  EXPECT_THAT(refused(more), HasSubstr("does not apply"));
  json wrong = good;
  wrong["model"]["heads"] = 3;
  EXPECT_THAT(refused(wrong), HasSubstr("does not divide"));
}

}  // namespace
}  // namespace flopmark
