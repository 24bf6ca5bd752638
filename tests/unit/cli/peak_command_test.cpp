#include "cli/peak_command.h"

#include "unit/cli/cli_fixture.h"

namespace flopmark {
namespace {

using ::testing::HasSubstr;

class PeakCommandTest : public CliTest {
 protected:
  nlohmann::json answer(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"peak"});
    arguments.insert(arguments.end(), {"--format", "json"});
    const auto result = flopmark(arguments);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(result.err, "");
    return nlohmann::json::parse(result.out);
  }
  std::filesystem::path measured_file() const { return folder_ / "data" / "peaks-measured.json"; }
};

// Public cases A12 and A15: dense, and of the precision asked for.
TEST_F(PeakCommandTest, AnswersForAnyName) {
  EXPECT_EQ(answer({"--device", "NVIDIA H100 NVL", "--precision", "bf16"}).at("flop_per_s"), 835.5e12);
  EXPECT_EQ(answer({"--device", "NVIDIA A100-SXM4-80GB", "--precision", "tf32"}).at("flop_per_s"), 156e12);
  EXPECT_EQ(answer({"--device", "NVIDIA A100-SXM4-80GB", "--precision", "bf16-mixed"}).at("flop_per_s"),
            312e12);
  for (const char* name :
       {"Vendor Nova 9000", "NVIDIA H200 MIG 1g.18gb", "", "\xFF", "x\"y\\", "NVIDIA h200"}) {
    const auto unknown = answer({"--device", name, "--precision", "bf16"});
    EXPECT_TRUE(unknown.at("flop_per_s").is_null()) << name;
    EXPECT_TRUE(unknown.at("reason").is_string()) << name;
  }
}

TEST_F(PeakCommandTest, AnUnknownPrecisionIsWrongUse) {
  const auto result = flopmark({"peak", "--device", "NVIDIA H200", "--precision", "bf17"});
  EXPECT_EQ(result.exit_code, 200);
  EXPECT_THAT(result.err, HasSubstr("unknown \"bf17\"; known are fp64"));
}

TEST_F(PeakCommandTest, WithoutADeviceItIsThisCpu) {
  const auto here = answer({"--threads", "3"});
  EXPECT_EQ(here.at("threads"), 3);
  EXPECT_TRUE(here.at("flop_per_s").at("fp32").is_null());
  EXPECT_THAT(flopmark({"peak"}).out, HasSubstr("flopmark peak"));
}

TEST_F(PeakCommandTest, OwnRowsGoBeforeTheTable) {
  write("own.json",
        R"([{"name": "H200 SXM", "match": ["NVIDIA H200"], "peak_tflops": {"bf16": 500}, "source": ["x"]}])");
  const auto own = answer({"--device", "NVIDIA H200", "--precision", "bf16", "--peaks", "own.json"});
  EXPECT_EQ(own.at("flop_per_s"), 500e12);
  EXPECT_THAT(own.at("derivation").get<std::string>(), HasSubstr("own.json"));
  write("bad.json", R"([{"name": "N", "match": ["N"], "peak_tflops": {"bf16": "x"}, "source": ["x"]}])");
  const auto bad = flopmark({"peak", "--device", "NVIDIA H200", "--peaks", "bad.json"});
  EXPECT_EQ(bad.exit_code, 200);
  EXPECT_THAT(bad.err, HasSubstr("bad.json: row 1 (\"N\"): key \"peak_tflops.bf16\""));
  EXPECT_EQ(flopmark({"run", "tiny.json", "--peaks", "bad.json"}).exit_code, 200);
  EXPECT_TRUE(files("results").empty());
}

TEST_F(PeakCommandTest, SeveralDevicesAreAddedUp) {
  const auto job =
      answer({"--device", "NVIDIA H100 80GB HBM3", "--device", "NVIDIA H100 PCIe", "--precision", "bf16"});
  EXPECT_DOUBLE_EQ(job.at("sum_flop_per_s"), 1745.4e12);
  EXPECT_EQ(job.at("devices").size(), 2U);
  const auto unknown = answer({"--device", "NVIDIA H200", "--device", "Nova", "--precision", "bf16"});
  EXPECT_TRUE(unknown.at("sum_flop_per_s").is_null());
  EXPECT_THAT(unknown.at("reason").get<std::string>(), HasSubstr("Nova"));
  EXPECT_EQ(flopmark({"peak", "--device", "NVIDIA H200", "--device", "Nova"}).exit_code, 200);
}

TEST_F(PeakCommandTest, MeasuresAndKeepsWhatTheWorkerFinds) {
  const auto result = flopmark({"peak", "--measure", "--quiet", "--threads", "4"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("fp32  200.0 GFLOP/s"));
  EXPECT_THAT(result.out, HasSubstr("1024 x 2048 x 512"));
  const auto kept = read_json(measured_file());
  ASSERT_EQ(kept.at("peaks").size(), 2U);
  EXPECT_EQ(kept.at("peaks")[0].at("device"), "Fake CPU");
  EXPECT_EQ(kept.at("peaks")[0].at("threads"), 4);
  EXPECT_EQ(kept.at("peaks")[1].at("flop_per_s"), 1e12);
}

TEST_F(PeakCommandTest, MeasuresOnePrecisionAndPrintsJson) {
  const auto measured = answer({"--measure", "--quiet", "--precision", "bf16"});
  EXPECT_EQ(measured.at("source"), "measured");
  EXPECT_EQ(measured.at("device"), "Fake CPU");
  ASSERT_EQ(measured.at("peaks").size(), 1U);
  EXPECT_EQ(measured.at("peaks")[0].at("flop_per_s"), 1e12);
  EXPECT_EQ(measured.at("peaks")[0].at("m"), 1024);
}

TEST_F(PeakCommandTest, AFailedWorkerKeepsNothing) {
  const auto result = flopmark({"peak", "--measure", "--quiet"}, "oom");
  EXPECT_EQ(result.exit_code, 125);
  EXPECT_THAT(result.err, HasSubstr("out_of_memory"));
  EXPECT_FALSE(std::filesystem::exists(measured_file()));
}

TEST_F(PeakCommandTest, ACorruptFileIsToldOfBeforeMeasuring) {
  std::filesystem::create_directories(measured_file().parent_path());
  std::ofstream(measured_file()) << "{";
  for (const std::vector<std::string>& command : {std::vector<std::string>{"peak", "--measure", "--quiet"},
                                                  {"peak"},
                                                  {"run", "tiny.json", "--quiet"}}) {
    const auto result = flopmark(command);
    EXPECT_EQ(result.exit_code, 200);
    EXPECT_THAT(result.err, HasSubstr(measured_file().string()));
  }
  EXPECT_TRUE(files("results").empty());
}

TEST_F(PeakCommandTest, OptionsOfMeasuringNeedIt) {
  EXPECT_EQ(flopmark({"peak", "--seconds", "3"}).exit_code, 200);
  EXPECT_EQ(flopmark({"peak", "--measure", "--seconds", "0"}).exit_code, 200);
}

/// 44,826,624 FLOP in 0.2 s are 224 MFLOP/s; the fake's peak is 200 GFLOP/s: 0.112 %. The fake samples have
/// no thread count, so that of the entry is taken away.
TEST_F(PeakCommandTest, ARunOnACpuUsesTheMeasuredPeak) {
  EXPECT_THAT(flopmark({"run", "tiny.json", "--quiet"}).out, HasSubstr("flopmark peak --measure"));
  ASSERT_EQ(flopmark({"peak", "--measure", "--quiet"}).exit_code, 0);
  auto kept = read_json(measured_file());
  kept["peaks"][0]["threads"] = nullptr;
  std::ofstream(measured_file()) << kept;
  const auto result = flopmark({"run", "tiny.json", "--quiet", "--output", "measured.json"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const auto record = read_json("measured.json");
  EXPECT_EQ(record.at("peak").at("source"), "measured");
  EXPECT_EQ(record.at("peak").at("flop_per_s"), 2e11);
  EXPECT_NEAR(record.at("metrics").at("mfu_ratio").get<double>(), 224133120 / 2e11, 1e-9);
  EXPECT_THAT(result.out, HasSubstr("of 200.0 GFLOP/s dense fp32, measured (matmul 1024 x"));
}

}  // namespace
}  // namespace flopmark
