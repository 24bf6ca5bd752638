#include "cli/mfu_cases.h"

#include <functional>

#include "unit/cli/cli_fixture.h"

namespace flopmark {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

/// `flopmark mfu --from`, with rows made of tiny LLaMA at T 32 on 4 devices of 1 GFLOP/s.
class MfuCasesTest : public CliTest {
 protected:
  static json tiny_row() {
    return json::parse(R"({"id": "tiny", "source": "by hand",
      "model": {"layers": 2, "hidden": 64, "heads": 4, "head_dim": 16, "vocab": 256, "seq_len": 32,
                "params": 125248, "params_matmul": 108544, "params_without_input_embedding": 108864},
      "hardware": {"gpu": "none such", "count": 4, "peak_tflops": 0.001},
      "run": {"tokens_per_s_total": 2560},
      "formula": "MATMUL_FULL", "hfu_formula": "BLOCKS_EXACT"})");
  }
  testing::ProgramResult from(const std::string& text) const {
    write("rows.json", text);
    return flopmark({"mfu", "--from", "rows.json", "--format", "json"});
  }
  json figures_of(const json& row) const {
    const auto result = from(json::array({row}).dump());
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return result.exit_code == 0 ? json::parse(result.out).at(row.at("id").get<std::string>()) : json();
  }
  void expect_file_refused(const std::string& text, const std::string& message) const {
    const auto result = from(text);
    EXPECT_EQ(result.exit_code, 200) << message;
    EXPECT_EQ(result.out, "") << message;
    EXPECT_THAT(result.err, HasSubstr("rows.json: " + message));
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
  }
  void expect_row_refused(const std::function<void(json&)>& damage, const std::string& message) const {
    json row = tiny_row();
    damage(row);
    expect_file_refused(json::array({row}).dump(), "case \"tiny\": " + message);
  }
};

TEST_F(MfuCasesTest, ARowByHand) {
  const json figures = figures_of(tiny_row());
  EXPECT_NEAR(figures.at("mfu_ratio").get<double>(), 0.44826624, 1e-9);
  EXPECT_NEAR(figures.at("hfu_ratio").get<double>(), 0.5767168, 1e-9);
  EXPECT_NEAR(figures.at("model_flop_per_s").get<double>(), 448'266'240, 1e-3);
  EXPECT_NEAR(figures.at("hardware_flop_per_s").get<double>(), 576'716'800, 1e-3);
}

TEST_F(MfuCasesTest, ANullRuleHasNoHardwareFigures) {
  json row = tiny_row();
  row["hfu_formula"] = nullptr;
  const json figures = figures_of(row);
  EXPECT_TRUE(figures.at("hfu_ratio").is_null());
  EXPECT_TRUE(figures.at("hardware_flop_per_s").is_null());
  EXPECT_NEAR(figures.at("mfu_ratio").get<double>(), 0.44826624, 1e-9);
}

TEST_F(MfuCasesTest, EveryThroughputKeyIsRead) {
  for (const json& run : {json{{"step_s", 0.1}, {"global_batch", 8}}, json{{"samples_per_s", 80}},
                          json{{"tokens_per_s_per_gpu", 640}},
                          json{{"tokens_per_s_total", nullptr}, {"tokens_per_s_per_gpu", 640}},
                          // what was measured goes before what was derived and rounded
                          json{{"tokens_per_s_total", 2560}, {"tokens_per_s_per_gpu", 641}}}) {
    json row = tiny_row();
    row["run"] = run;
    EXPECT_NEAR(figures_of(row).at("tokens_per_s_per_device").get<double>(), 640, 1e-9) << run;
  }
}

TEST_F(MfuCasesTest, AnObjectWithCasesIsTheSame) {
  json other = tiny_row();
  other["id"] = "other";
  const auto result = from(json{{"about", "x"}, {"cases", {tiny_row(), other}}}.dump());
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(json::parse(result.out).size(), 2u);
}

TEST_F(MfuCasesTest, EveryKeyMustBeThere) {
  for (const char* key : {"layers", "hidden", "heads", "head_dim", "vocab", "seq_len", "params",
                          "params_matmul", "params_without_input_embedding"}) {
    const std::string path = std::string("model.") + key;
    expect_row_refused([&](json& row) { row["model"].erase(key); }, path + " is missing");
    for (const json& wrong :
         {json(0), json(-1), json(1.5), json("2"), json(true), json(nullptr), json(1e17)}) {
      expect_row_refused([&](json& row) { row["model"][key] = wrong; },
                         path + ": found " + wrong.dump() + ", expected a whole number from 1 to ");
    }
  }
  for (const char* key : {"model", "hardware", "formula", "hfu_formula"}) {
    expect_row_refused([&](json& row) { row.erase(key); }, key);
  }
  expect_row_refused([](json& row) { row["model"] = 3; }, "model: found 3, expected an object");
  expect_row_refused([](json& row) { row["run"] = "fast"; }, "run: found \"fast\", expected an object");
}

TEST_F(MfuCasesTest, HardwareMustBePositive) {
  expect_row_refused([](json& row) { row["hardware"].erase("count"); }, "hardware.count is missing");
  expect_row_refused([](json& row) { row["hardware"].erase("peak_tflops"); },
                     "hardware.peak_tflops is missing");
  for (const json& wrong : {json(0), json(-312), json("312"), json(1e300), json(nullptr), json::array()}) {
    expect_row_refused([&](json& row) { row["hardware"]["peak_tflops"] = wrong; },
                       "hardware.peak_tflops: found ");
  }
  expect_row_refused([](json& row) { row["hardware"]["count"] = 0; }, "hardware.count: found 0, expected");
}

TEST_F(MfuCasesTest, AThroughputMustBeThereAndOneOnly) {
  expect_row_refused([](json& row) { row["run"] = json::object(); }, "no throughput; give one of ");
  expect_row_refused([](json& row) { row.erase("run"); }, "no throughput; give one of ");
  expect_row_refused([](json& row) { row["run"] = {{"step_s", 1}}; }, "run.global_batch is missing");
  for (const char* key : {"tokens_per_s_total", "samples_per_s", "tokens_per_s_per_gpu", "step_s"}) {
    for (const json& wrong : {json(0), json(-1), json("1"), json(false)}) {
      expect_row_refused(
          [&](json& row) {
            row["run"] = {{key, wrong}, {"global_batch", 8}};
          },
          std::string("run.") + key + ": found " + wrong.dump() + ", expected a number > 0");
    }
  }
  expect_row_refused(
      [](json& row) { row["run"]["tokens_per_s_per_gpu"] = 2560; },  // public case A14
      "run.tokens_per_s_total makes 640 tokens/s per device, run.tokens_per_s_per_gpu makes 2560; "
      "correct one of them, or hardware.count");
}

TEST_F(MfuCasesTest, RulesMustBeKnownAndSizesFitTogether) {
  expect_row_refused([](json& row) { row["formula"] = "PALM"; },
                     "formula: found \"PALM\", expected one of PALM_ALL, PALM_NO_INPUT_EMB, SIXN_ALL, ");
  expect_row_refused([](json& row) { row["formula"] = nullptr; }, "formula: found null, expected one of");
  expect_row_refused([](json& row) { row["hfu_formula"] = "MATMUL_FULL"; },
                     "hfu_formula: found \"MATMUL_FULL\", expected one of NONE, FOUR_THIRDS, BLOCKS_EXACT, ");
  expect_row_refused([](json& row) { row["model"]["params_matmul"] = 16383; },
                     "model.params_matmul: found 16383, less than");
  expect_row_refused([](json& row) { row["model"]["params"] = 108863; },
                     "model.params_without_input_embedding: found 108864, more than model.params 108863");
  expect_row_refused(
      [](json& row) {
        row["model"]["seq_len"] = 1000000000000000;
        row["model"]["layers"] = 1000000;
      },
      "model: too large to count");
}

TEST_F(MfuCasesTest, TheFileMustBeOneOfCases) {
  expect_file_refused("", "is empty");
  expect_file_refused("{}", "found an object, expected an array of cases");
  expect_file_refused("[]", "holds no cases");
  expect_file_refused("{\"cases\": 3}", "found 3, expected an array of cases");
  expect_file_refused("[3]", "case 1: found 3, expected an object");
  expect_file_refused("[{}]", "case 1: id is missing");
  expect_file_refused("[{\"id\": \"\"}]", "case 1: id: found \"\", expected a name");
  expect_file_refused(json{tiny_row(), tiny_row()}.dump(), "case \"tiny\": id is given twice");
  for (const std::string text :
       {"[{\"id\": NaN}]", "[", "[{\"id\": \"a\", \"id\": \"b\"}]", "[1e999]", "[1],"}) {
    const auto result = from(text);
    EXPECT_EQ(result.exit_code, 200) << text;
    EXPECT_THAT(result.err, HasSubstr("rows.json:1:")) << text;
  }
  EXPECT_THAT(flopmark({"mfu", "--from", "none.json"}).err, HasSubstr("none.json: no such file"));
  EXPECT_THAT(flopmark({"mfu", "--from", "."}).err, HasSubstr(".: is not a regular file"));
}

}  // namespace
}  // namespace flopmark
