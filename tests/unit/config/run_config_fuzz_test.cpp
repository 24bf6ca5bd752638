// Thousands of broken configs: each loads or is refused with code 200 and a text, and nothing else happens.
#include <gtest/gtest.h>

#include <random>

#include "config_files.h"

namespace flopmark {
namespace {

const std::string kValid = R"({
  // all levels, all types
  "$schema": "./schema.json", "extends": "base.json", "name": "fuzz", "device": "cuda:1",
  "model": { "type": "llama", "preset": "llama-tiny", "heads": 4, "kv_heads": 2, "tied_embeddings": false },
  "data": { "type": "text", "path": "base.json", "batch_size": 2, "seed": 9223372036854775807 },
  "train": { "precision": "bf16-mixed", "optimizer": { "type": "sgd", "lr": 3e-4, "momentum": 0.9 },
             "gradient_clip": null }, /* end */
  "measure": { "warmup_max_s": 1.5, "steps": 10 }, "peak": { "flop_per_s": 312e12 }
})";

const std::vector<std::string> kPieces = {"{",
                                          "}",
                                          "[",
                                          "]",
                                          ",",
                                          ":",
                                          "\"",
                                          "//",
                                          "/*",
                                          "*/",
                                          "null",
                                          "true",
                                          "-1",
                                          "0",
                                          "1e999",
                                          "1e308",
                                          "NaN",
                                          "\\u0000",
                                          "\\ud800",
                                          "\xff",
                                          "\"lr\": 1,",
                                          "\"extends\": \"run.json\",",
                                          "\"extends\": \".\",",
                                          "\"\": {},",
                                          "\"model\": [],",
                                          "99999999999999999999",
                                          "-9223372036854775809",
                                          "2.5",
                                          "\"gpt2\"",
                                          "\"mlp\"",
                                          "\"a.b\": 1,",
                                          std::string(1, '\0'),
                                          std::string(200, '['),
                                          std::string(5000, 'x')};

class Mutator {
 public:
  explicit Mutator(uint64_t seed) : random_(seed) {}

  std::string mutate(std::string text) {
    for (size_t i = 1 + below(3); i > 0; --i) mutate_once(text);
    return text;
  }

 private:
  size_t below(size_t limit) { return limit == 0 ? 0 : random_() % limit; }

  void mutate_once(std::string& text) {
    const size_t at = below(text.size());
    switch (below(5)) {
      case 0:
        text[at] = static_cast<char>(below(256));
        break;
      case 1:
        text.erase(at, 1 + below(12));
        break;
      case 2:
        text.insert(at, kPieces[below(kPieces.size())]);
        break;
      case 3:
        text.insert(at, text.substr(below(text.size()), below(40)));
        break;
      default:
        text.resize(at + 1);
    }
  }

  std::mt19937_64 random_;
};

/// 1 if it loads, 0 if it is refused as it should be; anything else fails the test.
int loads(const std::filesystem::path& file, const std::string& text,
          const std::vector<std::string>& sets = {}) {
  try {
    const RunConfig config = load_config(file, sets);
    EXPECT_EQ(to_json(config_from_resolved(to_json(config))), to_json(config));
    return 1;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage) << error.what() << "\n" << text;
    EXPECT_GT(std::string(error.what()).size(), 10U) << text;
  } catch (const std::exception& error) {
    ADD_FAILURE() << error.what() << "\n" << text;
  }
  return 0;
}

TEST(RunConfigFuzz, MutatedFiles) {
  const ConfigFiles files;
  files.write("base.json", R"({"measure": {"steps": 5}})");
  ASSERT_EQ(loads(files.write("run.json", kValid), kValid), 1);
  Mutator mutator(1);
  int loaded = 0;
  constexpr int kRounds = 4000;
  for (int i = 0; i < kRounds; ++i) {
    const std::string text = mutator.mutate(kValid);
    loaded += loads(files.write("run.json", text), text);
  }
  // Both outcomes must be common, or the mutations are too gentle or too rough to find anything.
  EXPECT_GT(loaded, kRounds / 50);
  EXPECT_LT(loaded, kRounds / 2);
}

TEST(RunConfigFuzz, MutatedSets) {
  const ConfigFiles files;
  const auto file = files.write("run.json", "{}");
  Mutator mutator(2);
  int loaded = 0;
  constexpr int kRounds = 1500;
  for (int i = 0; i < kRounds; ++i) {
    for (const char* valid : {"train.optimizer={\"lr\": 0.5, \"weight_decay\": 1}", "measure.steps=123456"}) {
      const std::string set = mutator.mutate(valid);
      loaded += loads(file, set, {set});
    }
  }
  EXPECT_GT(loaded, kRounds / 50);
  EXPECT_LT(loaded, kRounds);
}

TEST(RunConfigFuzz, MutatedInputs) {
  const ConfigFiles files;
  const auto file = files.write("run.json", R"({"model": {"torchscript": "m.pt"}})");
  Mutator mutator(3);
  int loaded = 0;
  constexpr int kRounds = 2000;
  for (int i = 0; i < kRounds; ++i) {
    const std::string list = mutator.mutate(
        R"([{"shape": [2, 3, 8], "dtype": "float32"}, {"shape": [2], "dtype": "int64", "high": 10}])");
    loaded += loads(file, list, {"data.inputs=" + list});
  }
  EXPECT_GT(loaded, 0);  // a list is short: few changes leave it one
  EXPECT_LT(loaded, kRounds / 2);
}

}  // namespace
}  // namespace flopmark
