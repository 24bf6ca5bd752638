// Models that go wrong on purpose (public cases A16, A21, A22, A42, A45): one clear message with phase and
// step, a record with status failed, exit code 125, nothing in baselines/.
#include <gmock/gmock.h>

#include <csignal>

#include "integration/tiny_run.h"

namespace flopmark::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

struct FaultCase {
  const char* fault;
  const char* kind;
  const char* phase;
  int step;
  const char* text;
};

void PrintTo(const FaultCase& the_case, std::ostream* out) {
  *out << the_case.fault;
}

class Fault : public TinyRun, public ::testing::WithParamInterface<FaultCase> {};

TEST_P(Fault, IsReportedWithPhaseAndStep) {
  const FaultCase& expected = GetParam();
  const ProgramResult result =
      run_with_fault(expected.fault, {"--save-baseline", "--force", "--reason", "a test"});
  EXPECT_EQ(result.exit_code, 125) << result.err;
  EXPECT_THAT(result.err, AllOf(HasSubstr(expected.phase), HasSubstr("step " + std::to_string(expected.step)),
                                HasSubstr(expected.text)));
  const nlohmann::json record = this->record();
  EXPECT_EQ(record["status"], "failed");
  EXPECT_EQ(record["failure"]["kind"], expected.kind);
  EXPECT_EQ(record["failure"]["phase"], expected.phase);
  EXPECT_EQ(record["failure"]["step"], expected.step);
  EXPECT_FALSE(has_baselines());
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, Fault,
    ::testing::Values(FaultCase{"throw@timed:7", "error", "timed", 7, "a fault on purpose"},
                      FaultCase{"throw@warmup:3", "error", "warmup", 3, "a fault on purpose"},
                      FaultCase{"throw_int@timed:2", "error", "timed", 2, "not a std::exception"},
                      FaultCase{"crash@timed:7", "crash", "timed", 7, "SIGSEGV"},
                      FaultCase{"abort@warmup:2", "crash", "warmup", 2, "SIGABRT"},
                      FaultCase{"oom@timed:5", "out_of_memory", "timed", 5, "4503599627370496"},
                      FaultCase{"nan@timed:3", "nan_loss", "timed", 3, "nan"},
                      FaultCase{"nan@warmup:4", "nan_loss", "warmup", 4, "nan"}),
    [](const auto& the_case) {
      std::string name = the_case.param.fault;
      for (char& c : name) {
        if (std::isalnum(static_cast<unsigned char>(c)) == 0) {
          c = '_';
        }
      }
      return name;
    });

TEST_F(TinyRun, AWorkerKilledFromOutsideIsAFailure) {
  const ProgramResult result = run_with_fault("kill@timed:7");
  EXPECT_EQ(result.exit_code, 125);
  EXPECT_EQ(record()["failure"]["kind"], "killed");
  EXPECT_THAT(result.err, HasSubstr("SIGKILL"));
}

TEST_F(TinyRun, AHangEndsAtTheTimeout) {
  const ProgramResult result = run_with_fault("hang@timed:7", {"--set", "measure.timeout_s=4"});
  EXPECT_EQ(result.exit_code, 125);
  const nlohmann::json failure = record()["failure"];
  EXPECT_EQ(failure["kind"], "timeout");
  EXPECT_EQ(failure["phase"], "timed");
  EXPECT_EQ(failure["step"], 7);
}

TEST_F(TinyRun, ALearningRateThatExplodesIsNamed) {
  const ProgramResult result = run({"--set", "train.optimizer.lr=1e30"});
  EXPECT_EQ(result.exit_code, 125);
  EXPECT_EQ(record()["failure"]["kind"], "nan_loss");
}

TEST_F(TinyRun, InterruptedKeepsWhatWasMeasured) {
  RunningProgram program(FLOPMARK_PROGRAM,
                         command({"--worker", FLOPMARK_FAULTY_WORKER, "--set", "measure.steps=2000"},
                                 {{"FLOPMARK_FAULT", "sleep@timed:1"}}));
  std::this_thread::sleep_for(std::chrono::seconds(6));  // 12 steps of warm-up take 0.6 s, 2000 steps 100 s
  ::kill(program.pid(), SIGINT);
  const ProgramResult result = program.wait();
  EXPECT_EQ(result.exit_code, 130) << result.err;
  const nlohmann::json record = this->record();
  EXPECT_EQ(record["status"], "incomplete");
  EXPECT_GT(record["repeats"][0]["steps"], 0);
  EXPECT_LT(record["repeats"][0]["steps"], 2000);
}

TEST_F(TinyRun, ASleepingForwardIsMeasuredBack) {
  ASSERT_EQ(run_with_fault("sleep@timed:1").exit_code, 0);
  const nlohmann::json record = this->record();
  for (const double step_s : record["repeats"][0]["step_s"]) {
    EXPECT_GE(step_s, 0.050);
  }
  EXPECT_GE(record["phases"]["forward_s"], 0.050);
}

TEST_F(TinyRun, APeakOfTheWarmupIsNotTheTimedPeak) {
  ASSERT_EQ(run_with_fault("none@timed:1").exit_code, 0);
  const double usual = record()["metrics"]["host_peak_bytes"];
  ASSERT_EQ(run_with_fault("allocate@timed:5", {"--force"}).exit_code, 0);
  EXPECT_GT(record()["metrics"]["host_peak_bytes"], usual + 200e6);
  ASSERT_EQ(run_with_fault("allocate@warmup:5", {"--force"}).exit_code, 0);
  EXPECT_LT(record()["metrics"]["host_peak_bytes"], usual + 100e6);
}

}  // namespace
}  // namespace flopmark::testing
