#include "report/bisect_report.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "fakes/bisect_example.h"
#include "fakes/golden.h"

namespace flopmark {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(BisectReport, TextIsGoldenAndFits) {
  const std::string text = bisect_text(example_bisection());
  EXPECT_LE(testing::widest_line(text), 100u);
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  testing::expect_golden(text, "tests/unit/report/golden/bisect.txt");
}

TEST(BisectReport, MarkdownIsGolden) {
  const std::string text = bisect_markdown(example_bisection());
  EXPECT_THAT(text, AllOf(Not(HasSubstr("<b>")), Not(HasSubstr("\x1b"))));
  testing::expect_golden(text, "tests/unit/report/golden/bisect.md");
}

TEST(BisectReport, JsonHasEveryPair) {
  const BisectReport report = example_bisection();
  const nlohmann::json whole = nlohmann::json::parse(bisect_json(report));
  EXPECT_EQ(whole["schema"], "flopmark.bisection/1");
  EXPECT_EQ(whole["outcome"], "confirmed");
  EXPECT_EQ(whole["culprit"]["commit"], report.range.commits[3].hash);
  EXPECT_EQ(whole["culprit"]["subject"], report.range.commits[3].subject);
  EXPECT_EQ(whole["change"]["change_ratio"], 0.49);
  EXPECT_EQ(whole["regression"]["gate"], "throughput");
  ASSERT_EQ(whole["tested"].size(), 4u);
  EXPECT_EQ(whole["tested"][0]["evidence"][0]["pairs"].size(), 12u);
  EXPECT_EQ(whole["tested"][0]["evidence"][0]["pairs"][0]["throughput"]["log_ratio"],
            report.result.tested[0].evidence[0].pairs[0].throughput);
  EXPECT_EQ(whole["tested"][2]["state"], "skipped");
  EXPECT_EQ(whole["tested"][3]["same_as"], report.range.commits[5].hash);
  EXPECT_EQ(whole["confirmation"][0]["operators"][0]["operator"], "aten::bmm");
  EXPECT_EQ(whole["environment"]["device_name"], "CPU Y");
}

TEST(BisectReport, WithoutAnAnswerThereIsNoCulprit) {
  BisectReport report = example_bisection();
  report.result.outcome = BisectOutcome::range;
  report.result.candidates = {2, 3};
  report.result.confirmation.clear();
  report.result.change.reset();
  const nlohmann::json whole = nlohmann::json::parse(bisect_json(report));
  EXPECT_TRUE(whole["culprit"].is_null());
  EXPECT_TRUE(whole["confirmation"].empty());
  EXPECT_EQ(whole["candidates"].size(), 2u);
  EXPECT_THAT(bisect_text(report),
              AllOf(Not(HasSubstr("culprit")), HasSubstr("candidate 2bbbbbbbbb Change 2\n")));
  for (size_t i = 0; i < 30; ++i) {
    report.range.commits.push_back(report.range.commits.back());
    report.result.candidates.push_back(report.range.commits.size() - 1);
  }
  EXPECT_THAT(bisect_text(report), HasSubstr("and 12 more, up to "));
  report.result.outcome = BisectOutcome::not_reproduced;
  EXPECT_THAT(bisect_text(report), Not(HasSubstr("candidate ")));
  report.result = BisectionResult{};
  report.environment.reset();
  EXPECT_THAT(bisect_text(report), HasSubstr("interrupted: "));
  EXPECT_TRUE(nlohmann::json::parse(bisect_json(report))["environment"].is_null());
}

}  // namespace
}  // namespace flopmark
