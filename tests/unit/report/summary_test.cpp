#include "report/summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fakes/example_record.h"
#include "fakes/golden.h"

namespace flopmark {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

SummaryContext context() {
  SummaryContext context;
  context.record_path = "results/llama-tiny-cpu/r.json";
  context.mention_baseline = true;
  return context;
}

TEST(Summary, GoldenOfAnOrdinaryRun) {
  testing::expect_golden(summarize(example_cpu_record(), context()), "tests/unit/report/golden/summary.txt");
}

TEST(Summary, TellsOfAMachineThatMoved) {
  RunRecord record = example_cpu_record();
  record.ruler = Ruler{268435456, 67108864, {0.004, 0.0041}, {0.008, 0.0082}};
  EXPECT_EQ(summarize(record, context()).find("ruler "), std::string::npos);
  record.ruler->matmul_s = {0.004, 0.005};
  EXPECT_THAT(summarize(record, context()),
              HasSubstr("ruler    the machine's own speed moved: matmul 53.69 GFLOP/s to 67.11 GFLOP/s, copy "
                        "7.622 GiB/s to\n         7.812 GiB/s\n"));
  record.ruler->copy_s.clear();
  EXPECT_EQ(summarize(record, context()).find("ruler "), std::string::npos) << "a damaged record";
}

TEST(Summary, FitsHundredColumnsWhateverTheNamesAre) {
  RunRecord record = example_cpu_record();
  record.environment.device_name = std::string(90, 'd') + " " + std::string(250, 'e');
  record.warnings = {{"not_steady", std::string(300, 'w')}, {"drift", "short"}};
  record.subject.commit.reset();
  record.subject.reason = "fatal: " + std::string(200, 'r');
  EXPECT_LE(testing::widest_line(summarize(record, context())), 100u);
}

TEST(Summary, ControlCharactersOfNamesDoNotReachTheTerminal) {
  RunRecord record = example_cpu_record();
  record.name = "n\x1b[31m";
  record.environment.device_name = "d\x1b]0;title\x07";
  record.subject.branch = "b\x1b[2J\n";
  record.data.path = "/x/p\x1b[1m";
  record.warnings = {{"c\x1b[1m", "t\x9b"}};
  record.failure = Failure{"k\x1b[1m", "p\x1b[1m", 1, "f\x1b[1m"};
  record.status = "failed";
  record.flops->by_operator[0].name = "o\x1b[1m";
  record.peak.precision = "fp\x1b[1m";
  const std::string text = summarize(record, context());
  for (const char byte : text) {
    const auto value = static_cast<unsigned char>(byte);
    EXPECT_TRUE(byte == '\n' || (value >= 0x20 && value != 0x7F)) << int{value};
  }
}

TEST(Summary, WithoutAPeakMfuIsUnknownWithTheReason) {
  RunRecord record = example_cpu_record();
  record.peak = {std::nullopt, "bf16", "none", "Example CPU",
                 "no peak on file for \"Example CPU\" at bf16: set it"};
  record.metrics.values["mfu_ratio"].reset();
  record.metrics.values["hfu_ratio"].reset();
  const std::string text = summarize(record, context());
  EXPECT_THAT(text, HasSubstr("n/a  no peak on file for \"Example CPU\" at bf16: set it"));
  EXPECT_THAT(text, Not(HasSubstr("dense")));
}

TEST(Summary, TheMarkOfARecordThatIsNotOkIsTheLastLine) {
  RunRecord record = example_cpu_record();
  record.status = "invalid";
  EXPECT_THAT(
      summarize(record, context()),
      EndsWith(
          "\nINVALID: these numbers are not believable (see the warnings); they cannot become a baseline\n"));
  record.status = "incomplete";
  EXPECT_THAT(summarize(record, context()),
              EndsWith("\nINCOMPLETE: interrupted; the numbers are of the steps that were measured\n"));
  record.status = "failed";
  record.failure = Failure{"out_of_memory", "timed", 7, "asked for 1 TiB"};
  EXPECT_THAT(summarize(record, context()),
              EndsWith("\nFAILED: out_of_memory: asked for 1 TiB (in phase timed, step 7)\n"));
}

TEST(Summary, FailureTextSaysThePlaceOnceAndKeepsTheWorkersLines) {
  EXPECT_EQ(failure_text(
                {"crash", "timed", 7, "died in phase timed, step 7; its last line of output:\n  a\x1b[1mb"}),
            "crash: died in phase timed, step 7; its last line of output:\n  ab");
  EXPECT_EQ(failure_text({"error", "load", std::nullopt, "x"}), "error: x (in phase load)");
}

TEST(Summary, AFailedRunWithoutNumbersHasNoTable) {
  RunRecord record;
  record.name = "broken";
  record.status = "failed";
  record.failure = Failure{"crash", "load", std::nullopt, "SIGSEGV"};
  record.subject.reason = "not a repository";
  const std::string text = summarize(record, {});
  EXPECT_THAT(text, HasSubstr("unknown device"));
  EXPECT_THAT(text, HasSubstr("none: not a repository"));
  EXPECT_THAT(text, Not(HasSubstr("Step time")));
  EXPECT_THAT(text, Not(HasSubstr("FLOP")));
  EXPECT_THAT(text, EndsWith("FAILED: crash: SIGSEGV (in phase load)\n"));
}

TEST(Summary, TheBaselineStandsBesideWithoutAVerdict) {
  SummaryContext with = context();
  with.baseline = BaselineLine{9.5, "fedcba9876543210", std::nullopt};
  const std::string text = summarize(example_cpu_record(), with);
  EXPECT_THAT(text,
              HasSubstr("baseline on file: 9.500 samples/s at commit fedcba9876; this run 10.00 samples/s."));
  EXPECT_THAT(text, Not(HasSubstr("save one with")));
  with.baseline = BaselineLine{std::nullopt, std::nullopt, "x.json: empty"};
  EXPECT_THAT(summarize(example_cpu_record(), with),
              HasSubstr("baseline on file, but unreadable: x.json: empty"));
  with.mention_baseline = false;
  EXPECT_THAT(summarize(example_cpu_record(), with), Not(HasSubstr("baseline ")));
}

TEST(Summary, OneOfAThingIsNotManyOfIt) {
  RunRecord record = example_cpu_record();
  record.environment.threads = 1;
  record.parameters = 1;
  record.data.tokens = 1;
  record.data.samples = 1;
  record.config["data"]["sequence_length"] = 1;
  record.flops->by_operator = {{"aten::mm", 1, 44826624, 44826624}};
  const std::string text = summarize(record, context());
  for (const char* one : {" 1 thread,", " 1 parameter,", " x 1 token,", " 1 token, 1 sample\n", " 1 call\n"})
    EXPECT_THAT(text, HasSubstr(one));
}

TEST(Summary, TheCommandToSaveCanBeCopied) {
  SummaryContext spaced = context();
  spaced.record_path = "my results/r.json";
  EXPECT_THAT(summarize(example_cpu_record(), spaced),
              EndsWith("save one with:\n  flopmark baseline save 'my results/r.json'\n"));
}

TEST(Summary, AtMostFiveOperatorsTheLargestFirst) {
  RunRecord record = example_cpu_record();
  record.flops->by_operator.clear();
  for (int64_t i = 1; i <= 7; ++i) {
    record.flops->by_operator.push_back({"aten::op" + std::to_string(i), i, i * 1000000, i * 1000000});
  }
  const std::string text = summarize(record, context());
  EXPECT_LT(text.find("aten::op7"), text.find("aten::op6"));
  EXPECT_THAT(text, HasSubstr("aten::op3"));
  EXPECT_THAT(text, Not(HasSubstr("aten::op2")));
}

TEST(Summary, ConfigsOfOtherShapesAreNoTrouble) {
  RunRecord record = example_cpu_record();
  for (const nlohmann::json& config :
       {nlohmann::json(), nlohmann::json::array({1}), nlohmann::json("text"), nlohmann::json{{"model", 3}},
        nlohmann::json{{"data", {{"batch_size", "x"}}}}}) {
    record.config = config;
    EXPECT_THAT(summarize(record, context()), HasSubstr("125,248 parameters"));
  }
}

TEST(Summary, NamesTheFileOfATorchScriptModel) {
  RunRecord record = example_record();
  record.config["model"] = {{"torchscript", "/somewhere/my-model.pt"}, {"loss", "mse"}};
  EXPECT_THAT(summarize(record, {}),
              HasSubstr("\nmodel    TorchScript my-model.pt, 1,235,814,400 parameters, adamw"));
}

}  // namespace
}  // namespace flopmark
