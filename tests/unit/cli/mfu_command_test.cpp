#include "fakes/golden.h"
#include "unit/cli/cli_fixture.h"

namespace flopmark {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;

using Words = std::vector<std::string>;

Words joined(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

class MfuCommandTest : public CliTest {
 protected:
  nlohmann::json json_of(const Words& arguments) const {
    const auto result = flopmark(joined({"mfu", "--format", "json"}, arguments));
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return result.exit_code == 0 ? nlohmann::json::parse(result.out) : nlohmann::json();
  }
  /// The exact convention's row.
  nlohmann::json exact_of(const Words& arguments) const {
    const auto document = json_of(arguments);
    for (const auto& row : document.value("conventions", nlohmann::json::array())) {
      if (row.at("convention") == "matmul_full") return row;
    }
    ADD_FAILURE() << "no exact row";
    return {};
  }
  /// Wrong use: 200, nothing on standard output, one line.
  void expect_refused(const Words& arguments, const std::string& text) const {
    const auto result = flopmark(joined({"mfu"}, arguments));
    EXPECT_EQ(result.exit_code, 200) << text;
    EXPECT_EQ(result.out, "") << text;
    EXPECT_THAT(result.err, HasSubstr(text));
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
  }
};

const Words kTiny = {"--preset", "llama-tiny", "--sequence-length", "32"};

TEST_F(MfuCommandTest, TablesAreGolden) {
  const Words llama = {"mfu",
                       "--preset",
                       "llama-3-8b",
                       "--sequence-length",
                       "8192",
                       "--tokens-per-s-per-device",
                       "9000",
                       "--devices",
                       "8",
                       "--device",
                       "NVIDIA H100 80GB HBM3",
                       "--precision",
                       "bf16",
                       "--checkpointing",
                       "full"};
  testing::expect_golden(flopmark(llama).out, "tests/unit/cli/golden/mfu_table.txt");
  testing::expect_golden(flopmark(joined(llama, {"--format", "markdown"})).out,
                         "tests/unit/cli/golden/mfu_table.md");
  EXPECT_LE(testing::widest_line(flopmark(llama).out), 100u);
}

TEST_F(MfuCommandTest, KnownFlopRates) {
  const Words rates = {"--model-flop-per-s", "100e12", "--hardware-flop-per-s", "130e12", "--peak", "312e12"};
  const std::string text = flopmark(joined({"mfu"}, rates)).out;
  EXPECT_THAT(text, ContainsRegex("MFU +32.1 %"));
  EXPECT_THAT(text, ContainsRegex("HFU +41.7 %"));
  const auto document = json_of(rates);
  EXPECT_NEAR(document.at("mfu_ratio").get<double>(), 0.320513, 1e-6);
  EXPECT_NEAR(document.at("hfu_ratio").get<double>(), 0.416667, 1e-6);
  EXPECT_EQ(document.at("peak").at("source"), "by_hand");
  // public case A12: the dense peak, not the one with sparsity
  EXPECT_THAT(
      flopmark({"mfu", "--model-flop-per-s", "420e12", "--device", "NVIDIA H200", "--precision", "bf16"}).out,
      ContainsRegex("MFU +42.4 %"));
}

TEST_F(MfuCommandTest, EveryWayToGiveTheThroughputIsTheSame) {
  // 4 devices, 8 samples of 32 tokens per 0.1 s: 2560 tokens/s in all, 640 per device.
  const std::vector<Words> ways = {{"--tokens-per-s-per-device", "640"},
                                   {"--tokens-per-s", "2560"},
                                   {"--samples-per-s", "80"},
                                   {"--step-s", "0.1", "--global-batch", "8"}};
  for (const Words& way : ways) {
    const auto row = exact_of(joined(joined(kTiny, {"--devices", "4", "--peak", "1e9"}), way));
    EXPECT_NEAR(row.at("model_flop_per_s").get<double>(), 448'266'240, 1e-3) << way[0];
    EXPECT_NEAR(row.at("mfu_ratio").get<double>(), 0.44826624, 1e-9) << way[0];  // public case A14
    EXPECT_NEAR(row.at("model_flop_per_s_all_devices").get<double>(), 1'793'064'960, 1e-2) << way[0];
  }
}

TEST_F(MfuCommandTest, CheckpointingRaisesHfuOnly) {  // public case A07
  const Words run = joined(kTiny, {"--tokens-per-s", "640", "--peak", "1e9"});
  const auto none = exact_of(run);
  EXPECT_EQ(none.at("mfu_ratio"), none.at("hfu_ratio"));
  const auto full = exact_of(joined(run, {"--checkpointing", "full"}));
  EXPECT_EQ(full.at("mfu_ratio"), none.at("mfu_ratio"));
  EXPECT_EQ(full.at("hardware_flop_per_token"), 901'120);
  const auto selective = exact_of(joined(run, {"--checkpointing", "selective"}));
  EXPECT_EQ(selective.at("hardware_flop_per_token"), 716'800);
  EXPECT_EQ(json_of(joined(run, {"--checkpointing", "selective"})).at("hardware_rule").at("key"),
            "attention_rerun");
}

TEST_F(MfuCommandTest, AShapeOfFlagsIsThePresetsShape) {
  const Words flags = {"--layers",          "2", "--hidden-size", "64",  "--heads",      "4",
                       "--kv-heads",        "2", "--ffn-size",    "176", "--vocab-size", "256",
                       "--sequence-length", "32"};
  const auto document = json_of(joined(flags, {"--tokens-per-s", "1"}));
  EXPECT_EQ(document.at("model").at("parameters"), 125'248);
  EXPECT_EQ(document.at("model").at("matmul_parameters"), 108'544);
  EXPECT_EQ(document.at("model").at("name"), "llama");
  const auto gpt2 = json_of({"--type", "gpt2", "--layers", "12", "--hidden-size", "768", "--heads", "12",
                             "--ffn-size", "3072", "--vocab-size", "50257", "--sequence-length", "1024",
                             "--tied-embeddings", "--tokens-per-s", "1"});
  EXPECT_EQ(gpt2.at("model").at("parameters"), 124'439'808);
}

TEST_F(MfuCommandTest, FlagsChangeAPreset) {
  const auto run = [&](const Words& more) {
    return json_of(joined(joined(kTiny, {"--tokens-per-s", "1"}), more)).at("model");
  };
  EXPECT_EQ(run({}).at("name"), "llama (llama-tiny)");
  EXPECT_EQ(run({"--ffn-size", "352"}).at("matmul_parameters"), 108'544 + 67'584);  // public case A06
  EXPECT_EQ(run({"--ffn-size", "352"}).at("name"), "llama (llama-tiny, changed)");
  EXPECT_EQ(run({"--kv-heads", "4"}).at("matmul_parameters"), 108'544 + 8192);
  EXPECT_EQ(run({"--tied-embeddings"}).at("parameters"), 108'864);  // public case A08
  EXPECT_EQ(run({"--head-size", "32"}).at("matmul_parameters"), 108'544 + 24'576);
  EXPECT_EQ(run({"--parameters", "2e5"}).at("parameters"), 200'000);
  const auto gpt2 = json_of({"--preset", "gpt2-124m", "--sequence-length", "1024", "--tokens-per-s", "1"});
  EXPECT_EQ(gpt2.at("model").at("parameters"), 124'439'808);
  const auto untied = json_of(
      {"--preset", "llama-1b", "--untied-embeddings", "--sequence-length", "128", "--tokens-per-s", "1"});
  EXPECT_EQ(untied.at("model").at("parameters"), 1'235'814'400 + 128'256 * 2048);
}

TEST_F(MfuCommandTest, AConfigHasItsOwnShapeBatchPrecisionAndPeak) {  // public case A09
  const Words run = {"tiny.json", "--set", "peak.flop_per_s=1e9", "--step-s", "0.1"};
  const auto document = json_of(run);
  EXPECT_EQ(document.at("throughput").at("tokens_per_s"), 640);  // 2 x 32 tokens in 0.1 s
  EXPECT_EQ(document.at("peak").at("precision"), "fp32");
  EXPECT_EQ(document.at("peak").at("source"), "by_hand");
  EXPECT_NEAR(exact_of(run).at("mfu_ratio").get<double>(), 0.44826624, 1e-9);
  const auto four = json_of(joined(run, {"--set", "train.gradient_accumulation=4"}));
  EXPECT_EQ(four.at("throughput").at("tokens_per_s"), 2560);
  const auto two = json_of(joined(run, {"--devices", "2"}));
  EXPECT_EQ(two.at("throughput").at("tokens_per_s"), 1280);
  EXPECT_EQ(two.at("throughput").at("tokens_per_s_per_device"), 640);
  const auto given = json_of(joined(run, {"--global-batch", "6", "--peak", "2e9"}));
  EXPECT_EQ(given.at("throughput").at("tokens_per_s"), 1920);
  EXPECT_EQ(given.at("peak").at("flop_per_s"), 2e9);
}

TEST_F(MfuCommandTest, ThePeakFollowsThePrecision) {  // public case A15
  const std::vector<std::pair<std::string, double>> peaks = {
      {"fp32", 19.5e12}, {"tf32", 156e12}, {"bf16", 312e12}, {"bf16-mixed", 312e12}, {"fp16", 312e12}};
  for (const auto& [precision, flop_per_s] : peaks) {
    const auto peak = json_of(joined(kTiny, {"--tokens-per-s", "1", "--device", "NVIDIA A100-SXM4-80GB",
                                             "--precision", precision}))
                          .at("peak");
    EXPECT_EQ(peak.at("flop_per_s"), flop_per_s) << precision;
    EXPECT_EQ(peak.at("source"), "table");
    EXPECT_EQ(peak.at("device"), "NVIDIA A100-SXM4-80GB");
  }
}

TEST_F(MfuCommandTest, AnUnknownPeakIsNullWithTheReason) {  // public cases A10, A11
  const Words run = joined(kTiny, {"--tokens-per-s", "1", "--precision", "bf16", "--device"});
  for (const std::string device : {"H100", "NVIDIA H900", "Tesla V100-SXM2-16GB"}) {
    const auto document = json_of(joined(run, {device}));
    EXPECT_TRUE(document.at("peak").at("flop_per_s").is_null()) << device;
    EXPECT_TRUE(document.at("conventions").at(0).at("mfu_ratio").is_null()) << device;
    const auto reason = document.at("peak").at("reason").get<std::string>();
    EXPECT_THAT(reason, HasSubstr(device));
    EXPECT_THAT(reason, HasSubstr("--peak FLOP_PER_S"));
  }
  const auto similar = json_of(joined(run, {"h100"})).at("peak").at("reason").get<std::string>();
  EXPECT_THAT(similar, HasSubstr("names are exact, such as \"NVIDIA H100 80GB HBM3\", "));
  const auto neither = json_of(joined(kTiny, {"--tokens-per-s", "1"}));
  EXPECT_THAT(neither.at("peak").at("reason").get<std::string>(), HasSubstr("--device NAME"));
  const auto by_hand = json_of(joined(run, {"NVIDIA H900", "--peak", "1e12"}));
  EXPECT_EQ(by_hand.at("peak").at("flop_per_s"), 1e12);
  EXPECT_EQ(by_hand.at("peak").at("source"), "by_hand");
}

TEST_F(MfuCommandTest, AboveThePeakIsImpossible) {  // public case A13
  const Words run = joined(kTiny, {"--tokens-per-s", "640", "--peak", "1e8"});
  const auto result = flopmark(joined({"mfu"}, run));
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.out, HasSubstr("\nINVALID   above 100 % is impossible (MFU 512.41 % by palm_all"));
  EXPECT_EQ(json_of(run).at("status"), "invalid");
}

TEST_F(MfuCommandTest, WrongShapesAreRefused) {
  const Words speed = {"--tokens-per-s", "1"};
  expect_refused(speed, "missing --layers, --hidden-size, --heads, --ffn-size, --vocab-size; or start from");
  expect_refused(joined(speed, {"--preset", "llama-9"}),
                 "--preset \"llama-9\": there is no such preset; known: ");
  expect_refused(joined(speed, {"--preset", "llama-tiny"}), "--sequence-length is missing");
  expect_refused(joined(speed, {"--preset", "mlp-784-512-512-10", "--sequence-length", "1"}),
                 "is no decoder");
  expect_refused(joined(speed, {"--preset", "gpt2-124m", "--type", "llama"}),
                 "preset gpt2-124m is of type gpt2");
  expect_refused(joined(speed, {"--preset", "gpt2-124m", "--kv-heads", "2", "--sequence-length", "8"}),
                 "--kv-heads does not apply to type gpt2");
  expect_refused(joined(speed, {"--preset", "gpt2-124m", "--sequence-length", "2048"}), "1024 positions");
  const Words tiny = joined(kTiny, speed);
  expect_refused(joined(tiny, {"--heads", "5"}), "--heads 5 does not divide --hidden-size 64");
  expect_refused(joined(tiny, {"--kv-heads", "3"}), "--kv-heads 3 does not divide --heads 4");
  for (const std::string flag :
       {"--layers", "--hidden-size", "--heads", "--kv-heads", "--ffn-size", "--vocab-size"}) {
    expect_refused(joined(tiny, {flag, "0"}), flag + " 0: expected a whole number from 1 to ");
    expect_refused(joined(tiny, {flag, "-1"}), flag + " -1: expected a whole number from 1 to ");
    expect_refused(joined(tiny, {flag, "1.5"}), flag);
  }
  for (const std::string flag : {"--head-size", "--devices"}) {
    expect_refused(joined(tiny, {flag, "0"}), flag + " 0: expected a whole number from 1 to 2147483647");
  }
  expect_refused({"--preset", "llama-tiny", "--sequence-length", "0", "--tokens-per-s", "1"},
                 "--sequence-length 0: expected");
  for (const std::string count : {"1.5", "nan", "inf", "1e16", "-3"}) {
    expect_refused(joined(tiny, {"--parameters", count}), "--parameters");
  }
  expect_refused(joined(tiny, {"--parameters", "16384"}), "no more than the 16384 of the input embedding");
  expect_refused({"--layers", "65536", "--hidden-size", "1048576", "--heads", "1", "--ffn-size", "16777216",
                  "--vocab-size", "10", "--sequence-length", "2147483647", "--tokens-per-s", "1"},
                 "too large to count");
}

TEST_F(MfuCommandTest, WrongThroughputsAreRefused) {
  expect_refused(kTiny,
                 "exactly one of --tokens-per-s-per-device, --tokens-per-s, --samples-per-s and --step-s; "
                 "found none");
  expect_refused(joined(kTiny, {"--tokens-per-s", "1", "--step-s", "1"}), "found --tokens-per-s, --step-s");
  expect_refused(joined(kTiny, {"--step-s", "1"}), "--step-s needs --global-batch");
  expect_refused(joined(kTiny, {"--step-s", "1", "--global-batch", "0"}), "--global-batch 0: expected");
  expect_refused(joined(kTiny, {"--tokens-per-s", "1", "--global-batch", "2"}), "goes with --step-s only");
  for (const std::string value : {"0", "-1", "nan", "inf", "1e30"}) {
    for (const std::string flag : {"--tokens-per-s-per-device", "--tokens-per-s", "--samples-per-s"}) {
      expect_refused(joined(kTiny, {flag, value}), "expected a number > 0");
    }
    expect_refused(joined(kTiny, {"--step-s", value, "--global-batch", "1"}), "--step-s");
    expect_refused(joined(kTiny, {"--tokens-per-s", "1", "--peak", value}), "--peak");
    expect_refused({"--model-flop-per-s", value, "--peak", "1"}, "--model-flop-per-s");
    expect_refused({"--model-flop-per-s", "1", "--hardware-flop-per-s", value}, "--hardware-flop-per-s");
  }
  expect_refused(joined(kTiny, {"--tokens-per-s", "fast"}), "fast");
}

TEST_F(MfuCommandTest, WhatDoesNotGoTogetherIsRefused) {
  const Words speed = {"--tokens-per-s", "1"};
  expect_refused(joined(kTiny, {"--model-flop-per-s", "1"}), "--preset does not go with --model-flop-per-s");
  expect_refused({"--model-flop-per-s", "1", "--step-s", "1"},
                 "--step-s does not go with --model-flop-per-s");
  expect_refused({"tiny.json", "--model-flop-per-s", "1"}, "CONFIG does not go with --model-flop-per-s");
  expect_refused({"--hardware-flop-per-s", "1", "--peak", "2"},
                 "--hardware-flop-per-s needs --model-flop-per-s");
  expect_refused({"--model-flop-per-s", "2", "--hardware-flop-per-s", "1"}, "were they swapped?");
  expect_refused({"--from", "x.json", "--peak", "1"}, "--peak does not go with --from");
  expect_refused({"--from", "x.json", "tiny.json"}, "CONFIG does not go with --from");
  expect_refused(joined({"tiny.json", "--layers", "3"}, speed), "--layers does not go with a CONFIG");
  expect_refused(joined({"tiny.json", "--preset", "llama-tiny"}, speed),
                 "--preset does not go with a CONFIG");
  expect_refused(joined({"tiny.json", "--tied-embeddings"}, speed),
                 "--tied-embeddings does not go with a CONFIG");
  expect_refused(joined(kTiny, joined(speed, {"--tied-embeddings", "--untied-embeddings"})), "excludes");
  expect_refused(joined({"no.json"}, speed), "no.json: no such config file");
  expect_refused(joined({"tiny.json", "--set", "model.layer=3"}, speed), "model.layers");
  expect_refused(joined(kTiny, joined(speed, {"--set", "model.layers=3"})),
                 "--set changes a key of a CONFIG");
  expect_refused(joined(kTiny, joined(speed, {"--device", "NVIDIA H200"})), "--device needs --precision");
  expect_refused(joined(kTiny, joined(speed, {"--precision", "int3"})), "int3");
  expect_refused(joined(kTiny, joined(speed, {"--checkpointing", "some"})), "some");
  expect_refused(joined(kTiny, joined(speed, {"--format", "xml"})), "xml");
}

TEST_F(MfuCommandTest, ImageModelsHaveNoSuchConventions) {
  for (const char* preset : {"resnet50", "vit-b-16"}) {
    const auto result =
        flopmark({"mfu", "--preset", preset, "--sequence-length", "4", "--samples-per-s", "5"});
    EXPECT_EQ(result.exit_code, 200) << preset;
    EXPECT_THAT(result.err, HasSubstr("is no decoder"));
  }
  EXPECT_EQ(flopmark({"mfu", "--preset", "llama-tiny", "--device", ""}).exit_code, 200);
}

}  // namespace
}  // namespace flopmark
