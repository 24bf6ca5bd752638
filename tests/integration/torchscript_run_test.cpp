// `flopmark run` on a model file: what is recorded, and what is said of files that are no model.
#include <gmock/gmock.h>

#include "integration/tiny_run.h"

namespace flopmark::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kExample = FLOPMARK_SOURCE_DIR "/examples/mlp.pt";
const std::string kInputs =
    R"(data.inputs=[{"shape": [16, 32], "dtype": "float32"}, {"shape": [16], "dtype": "int64", "high": 10}])";

class TorchScriptRun : public TinyRun {
 protected:
  ProgramResult run_model(const std::string& file, const std::vector<std::string>& more = {}) const {
    ProgramOptions options = command({"--set", "measure.warmup_max_steps=12", "--set", "measure.steps=20",
                                      "--set", "measure.repeats=1", "--set", "device=cpu"});
    options.arguments.at(1) = file;
    options.arguments.insert(options.arguments.end(), more.begin(), more.end());
    return run_program(FLOPMARK_PROGRAM, options);
  }
};

TEST_F(TorchScriptRun, MeasuresAndRecordsTheModel) {
  const ProgramResult result = run_model(kExample, {"--set", kInputs, "--set", "model.loss=cross_entropy"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const nlohmann::json record = this->record();
  EXPECT_EQ(record["status"], "ok");
  EXPECT_EQ(record["name"], "mlp");
  EXPECT_EQ(record["parameters"], 2762);
  EXPECT_EQ(record["flops"]["forward_flop"], 2 * 16 * (32 * 64 + 64 * 10));
  EXPECT_EQ(record["attention_kernel"], "none");
  EXPECT_EQ(record["data"]["model_hash"].get<std::string>().size(), 16U);
  EXPECT_EQ(record["config"]["model"],
            (nlohmann::json{{"torchscript", kExample}, {"loss", "cross_entropy"}}));
  EXPECT_EQ(record["config"]["data"]["inputs"][1]["high"], 10);
  EXPECT_EQ(record["repeats"][0]["samples"], 20 * 16);
  EXPECT_THAT(result.out, HasSubstr("TorchScript mlp.pt, 2,762 parameters, batch 16"));
}

TEST_F(TorchScriptRun, EveryPrecisionAndOptimizerOfACpuTrainsIt) {
  for (const char* precision : {"fp32", "bf16-mixed", "bf16"}) {
    for (const char* optimizer : {"sgd", "adamw"}) {
      const ProgramResult result =
          run_model(kExample, {"--force", "--set", kInputs, "--set", "model.loss=cross_entropy", "--set",
                               std::string("train.precision=") + precision, "--set",
                               std::string("train.optimizer.type=") + optimizer});
      EXPECT_EQ(result.exit_code, 0) << precision << ' ' << optimizer << '\n' << result.err;
      EXPECT_EQ(record()["flops"]["forward_flop"], 2 * 16 * (32 * 64 + 64 * 10));
    }
  }
}

TEST_F(TorchScriptRun, WithoutInputsSaysWhatToAdd) {
  const ProgramResult result = run_model(kExample);
  EXPECT_EQ(result.exit_code, 200);
  EXPECT_THAT(result.err, HasSubstr("--set 'data.inputs=[{\"shape\": [8, 3, 224, 224]"));
  EXPECT_FALSE(std::filesystem::exists(record_file()));
}

TEST_F(TorchScriptRun, AFileThatDoesNotLoadCannotBeJudged) {
  std::ofstream(folder_ / "broken.pt") << "PK\x03\x04 and nothing";
  for (const auto& [name, text] : {std::pair{"broken.pt", "cannot be loaded"}, {"none.pt", "no such file"}}) {
    const ProgramResult result = run_model((folder_ / name).string(), {"--force", "--set", kInputs});
    EXPECT_EQ(result.exit_code, 125) << name;
    EXPECT_EQ(record()["status"], "failed");
    EXPECT_EQ(record()["failure"]["phase"], "load");
    EXPECT_THAT(record()["failure"]["text"].get<std::string>(),
                AllOf(HasSubstr(text), Not(HasSubstr("frame #"))));
  }
}

TEST_F(TorchScriptRun, AConfigThatContradictsTheModelIsTheUsersMistake) {
  const ProgramResult count = run_model(kExample, {"--set", kInputs});
  EXPECT_EQ(count.exit_code, 200);
  EXPECT_THAT(count.err, HasSubstr("2 of them go to forward, but that of"));
  const ProgramResult output =
      run_model(kExample, {"--set", R"(data.inputs=[{"shape": [16, 32], "dtype": "float32"}])"});
  EXPECT_EQ(output.exit_code, 200);
  EXPECT_THAT(output.err, HasSubstr("forward returned a tensor Float [16, 10], expected the loss"));
  EXPECT_FALSE(std::filesystem::exists(record_file()));
}

TEST_F(TorchScriptRun, DryRunStartsNothing) {
  const ProgramResult result = run_program(
      FLOPMARK_PROGRAM, {{"run", "none.pt", "--dry-run", "--set", kInputs}, {}, folder_, "", false});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(nlohmann::json::parse(result.out).at("parameters").is_null());
  EXPECT_THAT(result.err, HasSubstr("unknown before loading"));
}

}  // namespace
}  // namespace flopmark::testing
