#include "report/comparison_report.h"

#include <gmock/gmock.h>

#include "fakes/golden.h"
#include "unit/compare/compared_records.h"

namespace flopmark {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// Old and new record with a difference that may matter and another loss.
struct Compared {
  FoundRecord a{steady_record(), "baselines/1x-example-cpu/llama-tiny-cpu.json"};
  FoundRecord b{steady_record(0.75), "results/llama-tiny-cpu/new.json"};

  Compared() {
    b.record.environment.compiler = "gcc 13 | -O3";
    for (Repeat& repeat : b.record.repeats) repeat.loss_first = 7.25;
    b.record.metrics.values["mfu_ratio"] = std::nullopt;
  }
  StoredComparison judged() const { return compare_records(a.record, b.record); }
};

TEST(ComparisonReport, TextIsGoldenAndFits) {
  const Compared compared;
  const std::string text = comparison_text({compared.a, compared.b, compared.judged()});
  EXPECT_LE(testing::widest_line(text), 100u);
  testing::expect_golden(text, "tests/unit/report/golden/comparison.txt");
}

TEST(ComparisonReport, MarkdownIsGolden) {
  const Compared compared;
  testing::expect_golden(comparison_markdown({compared.a, compared.b, compared.judged()}),
                         "tests/unit/report/golden/comparison.md");
}

TEST(ComparisonReport, TextFromRecordsCannotActOnTerminalOrPage) {
  Compared compared;
  compared.a.source = "\033[2Jx<script>";
  compared.b.record.environment.compiler = "\033]0;title\a|<b>";
  const StoredComparison judged = compared.judged();
  EXPECT_THAT(comparison_text({compared.a, compared.b, judged}), Not(HasSubstr("\033")));
  const std::string markdown = comparison_markdown({compared.a, compared.b, judged});
  EXPECT_THAT(markdown, Not(HasSubstr("\033")));
  EXPECT_THAT(markdown, Not(HasSubstr("<b>")));
  EXPECT_THAT(markdown, Not(HasSubstr("<script>")));
}

TEST(ComparisonReport, JsonOfWhatIsUnknownIsNull) {
  const Compared compared;
  const auto json = nlohmann::json::parse(comparison_json({compared.a, compared.b, compared.judged()}));
  EXPECT_EQ(json["verdict"], "faster");
  EXPECT_NEAR(json["change_ratio"].get<double>(), -0.25, 1e-9);
  EXPECT_LT(json["ci95_low"].get<double>(), -0.25);
  EXPECT_GT(json["ci95_high"].get<double>(), -0.25);
  EXPECT_TRUE(json["metrics"]["mfu_ratio"]["b"].is_null());
  EXPECT_TRUE(json["metrics"]["mfu_ratio"]["change_ratio"].is_null());
  EXPECT_EQ(json["metrics"]["mfu_ratio"]["change"], "not_measured");
  EXPECT_EQ(json["deterministic"]["loss_first"]["change"], "differs");
  EXPECT_EQ(json["environment_differences"][0]["class"], "may_matter");
  EXPECT_EQ(json["summaries"]["floor"]["gates"], true);
  EXPECT_EQ(json["summaries"]["typical"]["gates"], false);
}

}  // namespace
}  // namespace flopmark
