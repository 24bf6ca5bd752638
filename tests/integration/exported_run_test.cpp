// `flopmark run` on a file of torch.export.save: with no config, and with one that contradicts it.
#include <gmock/gmock.h>

#include "integration/tiny_run.h"

namespace flopmark::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kExported = FLOPMARK_SOURCE_DIR "/examples/mlp.pt2";  // made by examples/export_model.py

class ExportedRun : public TinyRun {
 protected:
  ProgramResult run_file(const std::string& file, const std::vector<std::string>& more = {}) const {
    ProgramOptions options =
        command({"--force", "--set", "measure.warmup_max_steps=12", "--set", "measure.steps=20", "--set",
                 "measure.repeats=1", "--set", "device=cpu"});
    options.arguments.at(1) = file;
    options.arguments.insert(options.arguments.end(), more.begin(), more.end());
    return run_program(FLOPMARK_PROGRAM, options);
  }
};

TEST_F(ExportedRun, NeedsNoConfig) {
  const ProgramResult result = run_file(kExported);
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const nlohmann::json record = this->record();
  EXPECT_EQ(record["status"], "ok");
  EXPECT_EQ(record["name"], "mlp");
  EXPECT_EQ(record["parameters"], 2762);
  EXPECT_EQ(record["flops"]["forward_flop"], 2 * 16 * (32 * 64 + 64 * 10));
  EXPECT_EQ(record["attention_kernel"], "none");
  EXPECT_EQ(record["data"]["model_hash"].get<std::string>().size(), 16U);
  EXPECT_EQ(record["config"]["model"], (nlohmann::json{{"exported", kExported}}));
  EXPECT_EQ(record["config"]["data"]["batch_size"], 16);
  EXPECT_EQ(
      record["config"]["data"]["inputs"],
      nlohmann::json::parse(
          R"([{"shape": [16, 32], "dtype": "float32"}, {"shape": [16], "dtype": "int64", "high": 10}])"));
  EXPECT_EQ(record["repeats"][0]["samples"], 20 * 16);
  EXPECT_THAT(result.out, HasSubstr("torch.export mlp.pt2, 2,762 parameters, batch 16"));
}

TEST_F(ExportedRun, EveryPrecisionAndOptimizerOfACpuTrainsIt) {
  for (const char* precision : {"fp32", "bf16-mixed", "bf16"}) {
    for (const char* optimizer : {"sgd", "adamw"}) {
      const ProgramResult result =
          run_file(kExported, {"--set", std::string("train.precision=") + precision, "--set",
                               std::string("train.optimizer.type=") + optimizer});
      EXPECT_EQ(result.exit_code, 0) << precision << ' ' << optimizer << '\n' << result.err;
    }
  }
}

TEST_F(ExportedRun, AConfigThatContradictsTheFileIsTheUsersMistake) {
  const ProgramResult batch = run_file(kExported, {"--set", "data.batch_size=8"});
  EXPECT_EQ(batch.exit_code, 200);
  EXPECT_THAT(batch.err, HasSubstr("data.batch_size is 8, but " + kExported + " was exported with 16"));
  EXPECT_EQ(run_file(kExported, {"--set", "data.batch_size=16"}).exit_code, 0);
  const ProgramResult shape = run_file(
      kExported,
      {"--set",
       R"(data.inputs=[{"shape": [16, 31], "dtype": "float32"}, {"shape": [16], "dtype": "int64", "high": 10}])"});
  EXPECT_EQ(shape.exit_code, 200);
  EXPECT_THAT(shape.err, HasSubstr("data.inputs[0] is float32 [16, 31], but the argument x of"));
  const ProgramResult count =
      run_file(kExported, {"--set", R"(data.inputs=[{"shape": [16, 32], "dtype": "float32"}])"});
  EXPECT_EQ(count.exit_code, 200);
  EXPECT_THAT(count.err, HasSubstr("data.inputs: 1 of them go to forward"));
}

/// An array of numpy.save, `values` its bytes.
void write_npy(const std::filesystem::path& file, const std::string& dtype, const std::string& shape,
               const std::string& values) {
  std::string header = "{'descr': '" + dtype + "', 'fortran_order': False, 'shape': " + shape + ", }";
  header.resize(117, ' ');
  std::ofstream(file, std::ios::binary) << std::string("\x93NUMPY\x01\x00\x76\x00", 10) << header << '\n'
                                        << values;
}

TEST_F(ExportedRun, TakesItsBatchFromTheFileOnDataOfItsOwnToo) {
  const std::vector<float> x(64 * 32, 0.5F);
  const std::vector<int64_t> labels(64, 3);
  write_npy(folder_ / "x.npy", "<f4", "(64, 32)", {reinterpret_cast<const char*>(x.data()), x.size() * 4});
  write_npy(folder_ / "y.npy", "<i8", "(64,)",
            {reinterpret_cast<const char*>(labels.data()), labels.size() * 8});
  const std::vector<std::string> data = {"--set", "data.type=tensors", "--set",
                                         R"(data.paths=["x.npy", "y.npy"])"};
  const ProgramResult result = run_file(kExported, data);
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(record()["config"]["data"]["batch_size"], 16);
  EXPECT_FALSE(record()["config"]["data"].contains("inputs"));
  EXPECT_EQ(record()["repeats"][0]["samples"], 20 * 16);
}

TEST_F(ExportedRun, AFileThatDoesNotLoadCannotBeJudged) {
  std::ofstream(folder_ / "broken.pt2") << "PK\x03\x04 and nothing";
  for (const auto& [name, text] :
       {std::pair{"broken.pt2", "cut short or damaged"}, {"none.pt2", "no such file"}}) {
    const ProgramResult result = run_file((folder_ / name).string());
    EXPECT_EQ(result.exit_code, 125) << name << result.err;
    EXPECT_EQ(record()["failure"]["phase"], "load");
    EXPECT_THAT(record()["failure"]["text"].get<std::string>(),
                AllOf(HasSubstr("model.exported"), HasSubstr(text), Not(HasSubstr("frame #"))));
  }
}

TEST_F(ExportedRun, FlopsAreCountedByModule) {
  const ProgramResult result =
      run_program(FLOPMARK_PROGRAM,
                  {{"flops", kExported, "--depth", "2", "--set", "device=cpu"}, {}, folder_, "", false});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, AllOf(HasSubstr("exported (mlp.pt2)"), HasSubstr("model.0"), HasSubstr("model.2"),
                                HasSubstr("1 micro-batch of 16 samples")));
}

TEST_F(ExportedRun, DryRunStartsNothing) {
  const ProgramResult result =
      run_program(FLOPMARK_PROGRAM, {{"run", "none.pt2", "--dry-run"}, {}, folder_, "", false});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(nlohmann::json::parse(result.out).at("parameters").is_null());
  EXPECT_THAT(result.err, HasSubstr("unknown before loading: an exported model's parameters"));
}

}  // namespace
}  // namespace flopmark::testing
