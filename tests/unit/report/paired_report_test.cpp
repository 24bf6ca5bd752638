#include "report/paired_report.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "fakes/golden.h"
#include "fakes/paired_example.h"

namespace flopmark {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(PairedReport, TextIsGoldenAndFits) {
  const std::string text = paired_text(example_comparison(slower_backward()));
  EXPECT_LE(testing::widest_line(text), 100u);
  testing::expect_golden(text, "tests/unit/report/golden/paired.txt");
}

TEST(PairedReport, MarkdownIsGolden) {
  testing::expect_golden(paired_markdown(example_comparison(slower_backward())),
                         "tests/unit/report/golden/paired.md");
}

TEST(PairedReport, JsonIsGolden) {
  testing::expect_golden(paired_json({example_comparison(slower_backward())}),
                         "tests/unit/report/golden/paired.json");
}

TEST(PairedReport, JsonHasEveryPairAndWhatOthersRead) {
  const json whole = json::parse(paired_json({example_comparison(slower_backward())}));
  EXPECT_EQ(whole["schema"], "flopmark.paired/1");
  EXPECT_EQ(whole["verdict"], "slower");
  EXPECT_NEAR(whole["change_ratio"].get<double>(), 0.05, 1e-9);
  EXPECT_LT(whole["ci95_low"].get<double>(), 0.05);
  EXPECT_GT(whole["ci95_high"].get<double>(), 0.05);
  ASSERT_EQ(whole["pairs"].size(), 12u);
  const json& pair = whole["pairs"][0];
  EXPECT_NEAR(pair["throughput"]["log_ratio"].get<double>(), std::log(1.05) + 0.001, 1e-9);
  EXPECT_EQ(pair["turns"], 10);
  EXPECT_EQ(pair["others_cpu_ratio"], 0.01);
  EXPECT_EQ(whole["metrics"]["samples_per_s"]["better"], "higher");
  EXPECT_EQ(whole["metrics"]["samples_per_s"]["change"], "worse");
  EXPECT_EQ(whole["phases"]["backward"]["changed"], true);
  EXPECT_EQ(whole["operators"][0]["operator"], "aten::bmm");
  EXPECT_EQ(whole["environment_differences"][0]["class"], "may_matter");
}

TEST(PairedReport, NothingMeasuredIsNull) {
  const PairedComparison failed = example_comparison(FakePairs([](const PairRequest&, size_t) {
    return LaunchPair{failed_launch("crash", "SIGSEGV"), stopped_launch(), {}};
  }));
  const json whole = json::parse(paired_json({failed}));
  EXPECT_EQ(whole["verdict"], "unsure");
  EXPECT_EQ(whole["end"], "failed");
  EXPECT_TRUE(whole["change_ratio"].is_null());
  EXPECT_TRUE(whole["ci95_low"].is_null());
  EXPECT_EQ(whole["failure"]["side"], "a");
  EXPECT_EQ(whole["pairs"], json::array());
  EXPECT_THAT(paired_text(failed), HasSubstr("\nunsure: side a failed in pair 1: crash: SIGSEGV\n"));
  EXPECT_THAT(paired_markdown(failed), HasSubstr("**unsure**"));
}

TEST(PairedReport, SeveralAreOneSuite) {
  const json suite = json::parse(
      paired_json({example_comparison(FakePairs(changed_by(0))), example_comparison(slower_backward())}));
  EXPECT_EQ(suite["schema"], "flopmark.paired_suite/1");
  EXPECT_EQ(suite["verdict"], "slower");
  EXPECT_EQ(suite["comparisons"].size(), 2u);
  EXPECT_EQ(suite["comparisons"][0]["verdict"], "same");
}

TEST(PairedReport, TextOfOthersCannotActOnTerminalOrPage) {
  PairedComparison sides = example_sides();
  sides.a.label = "\033[2Jx<script>|";
  sides.b.sets = {"name=\033]0;t\a<b>"};
  FakePairs source([](const PairRequest& request, size_t index) {
    LaunchPair pair = changed_by(0)(request, index);
    pair.b.samples->flops->by_operator.push_back({"\033[1m<i>|", 1, 1, 1});
    pair.b.samples->environment.driver = "\033[3m<u>";
    return pair;
  });
  const PairedComparison comparison = example_comparison(std::move(source), sides);
  EXPECT_THAT(paired_text(comparison), Not(HasSubstr("\033")));
  const std::string markdown = paired_markdown(comparison);
  for (const char* mark : {"\033", "<script>", "<b>", "<i>", "<u>"})
    EXPECT_THAT(markdown, Not(HasSubstr(mark)));
}

}  // namespace
}  // namespace flopmark
