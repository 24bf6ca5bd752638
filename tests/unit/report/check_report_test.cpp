#include "report/check_report.h"

#include <gmock/gmock.h>

#include "fakes/golden.h"
#include "unit/compare/compared_records.h"

namespace flopmark {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kRolling = "baselines/1x-example-cpu/llama-tiny-cpu.json";
constexpr const char* kAnchorFile = "baselines/1x-example-cpu/llama-tiny-cpu.anchor.json";

Judgement judged(double reference, double candidate, const char* source) {
  const RunRecord a = steady_record(reference), b = steady_record(candidate);
  return {{a, source}, compare_records(a, b)};
}

/// Steps `candidate` times as long as 0.2 s, against baselines of `baseline` and `anchor` times.
CheckResult result_of(double baseline, double anchor, double candidate) {
  CheckResult result;
  result.name = "llama-tiny-cpu";
  result.candidate = {steady_record(candidate), "results/llama-tiny-cpu/new.json"};
  result.baseline = judged(baseline, candidate, kRolling);
  result.anchor = judged(anchor, candidate, kAnchorFile);
  return result;
}

TEST(CheckReport, TheWorseOfBothIsTheVerdict) {
  EXPECT_EQ(verdict_of(result_of(1, 1, 1)), Verdict::same);
  EXPECT_EQ(verdict_of(result_of(1, 1, 0.7)), Verdict::faster);
  EXPECT_EQ(verdict_of(result_of(1, 0.7, 1)), Verdict::slower) << "crept";
  EXPECT_EQ(verdict_of(result_of(1, 0.85, 1)), Verdict::unsure) << "perhaps";
  EXPECT_EQ(verdict_of(result_of(0.7, 1, 1)), Verdict::slower);
  EXPECT_EQ(verdict_of(result_of(1.4, 1, 1)), Verdict::faster) << "the anchor has nothing against it";
  CheckResult result = result_of(1, 0.7, 1);
  result.anchor->comparison.verdict = Verdict::not_comparable;
  EXPECT_EQ(verdict_of(result), Verdict::same);
  result.remark = "failed";
  EXPECT_FALSE(verdict_of(result).has_value());
  EXPECT_FALSE(verdict_of({}).has_value());
}

TEST(CheckReport, TextIsGoldenAndFits) {
  const std::string text = check_text(result_of(1, 1, 1)) + "=====\n" + check_text(result_of(1, 0.7, 1));
  EXPECT_LE(testing::widest_line(text), 100u);
  testing::expect_golden(text, "tests/unit/report/golden/check.txt");
}

TEST(CheckReport, MarkdownIsGolden) {
  testing::expect_golden(check_markdown({result_of(0.7, 1, 1), result_of(1, 0.7, 1)}),
                         "tests/unit/report/golden/check.md");
}

TEST(CheckReport, JsonHoldsBothComparisons) {
  CheckResult failed;
  failed.name = "other";
  failed.candidate.source = "results/other.json";
  failed.remark = "not judged: crash";
  failed.code = ExitCode::cannot_judge;
  CheckResult crept = result_of(1, 0.7, 1);
  crept.code = ExitCode::slower;
  const auto whole = nlohmann::json::parse(check_json({crept, failed}, ExitCode::slower));
  EXPECT_EQ(whole["schema"], "flopmark.check/1");
  EXPECT_EQ(whole["verdict"], "slower");
  EXPECT_EQ(whole["exit_code"], 1);
  EXPECT_EQ(whole["checks"][0]["baseline"]["verdict"], "same");
  EXPECT_EQ(whole["checks"][0]["anchor"]["verdict"], "slower");
  EXPECT_THAT(whole["checks"][0]["confirm"].get<std::string>(), HasSubstr("flopmark ab CONFIG"));
  EXPECT_TRUE(whole["checks"][1]["verdict"].is_null());
  EXPECT_EQ(whole["checks"][1]["reason"], "not judged: crash");
  EXPECT_EQ(whole["checks"][1]["exit_code"], 125);
}

TEST(CheckReport, TextFromRecordsCannotActOnTerminalOrPage) {
  CheckResult result = result_of(0.7, 1, 1);
  result.name = "\033[2J<script>";
  result.candidate.record.command_line = {"flopmark", "check", "\033]0;x\a\n<script>.json"};
  result.anchor->reference.source = "\033[2J|<b>";
  EXPECT_THAT(check_text(result), Not(HasSubstr("\033[2J")));
  const std::string markdown = check_markdown({result});
  EXPECT_THAT(markdown, Not(HasSubstr("\033")));
  EXPECT_THAT(markdown, Not(HasSubstr("<b>")));
  EXPECT_THAT(markdown, Not(HasSubstr("\n<script>")));
}

TEST(CheckReport, WithoutAVerdictThereIsTheRemark) {
  CheckResult result;
  result.name = "tiny";
  result.remark = "no baseline to judge by; passed (--no-baseline pass)";
  EXPECT_EQ(check_text(result), "check    tiny: no baseline to judge by; passed (--no-baseline pass)\n");
  EXPECT_THAT(check_markdown({result}),
              EndsWith("### tiny: no baseline to judge by; passed (--no-baseline pass)\n\n"));
}

}  // namespace
}  // namespace flopmark
