#include "report/flops_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/presets.h"
#include "fakes/golden.h"

namespace flopmark {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// Tiny LLaMA of the public cases, batch 2, 32 tokens, fused, both blocks checkpointed; module rows cut
/// short.
FlopsSubject counted_subject() {
  FlopsSubject subject;
  subject.name = "tiny";
  subject.model = "llama (llama-tiny)";
  subject.step = "1 micro-batch of 2 x 32 tokens, every block checkpointed";
  subject.parameters = 125'248;
  subject.attention_kernel = "fused";
  subject.counted_on = "meta";
  subject.flops.forward_flop = 14'942'208;
  subject.flops.backward_flop = 29'884'416;
  subject.flops.backward_hardware_flop = 30'408'704;
  subject.flops.recompute_flop = 12'845'056;
  subject.flops.by_operator = {{"aten::attention", 4, 1'048'576, 2'097'152},
                               {"aten::attention_backward", 2, 2'097'152, 2'621'440},
                               {"aten::mm", 59, 41'680'896, 53'477'376}};
  subject.flops.by_precision = {{"fp32", 44'826'624, 58'195'968}};
  subject.flops.by_module = {{"layers.0.attention.wq", 6'422'528, 12'845'056, 13'107'200, 6'422'528},
                             {"layers.1", 6'422'528, 12'845'056, 13'107'200, 6'422'528},
                             {"output", 2'097'152, 4'194'304, 4'194'304, 0}};
  subject.formulas = {transformer_shape(*find_preset("llama-tiny"), {.sequence_length = 32}), 64};
  return subject;
}

TEST(FlopsReport, GoldenTables) {
  testing::expect_golden(flops_tables(counted_subject(), TableStyle::text, 2),
                         "tests/unit/report/golden/flops.txt");
  testing::expect_golden(flops_tables(counted_subject(), TableStyle::markdown, 1),
                         "tests/unit/report/golden/flops.md");
}

TEST(FlopsReport, JsonHasTheRecordsKeysAndTheRest) {
  const auto document = flops_json(counted_subject(), std::nullopt);
  EXPECT_EQ(document.at("model_flop"), 44'826'624);
  EXPECT_EQ(document.at("hardware_flop"), 58'195'968);
  EXPECT_EQ(document.at("parameters"), 125'248);
  EXPECT_EQ(document.at("by_module").size(), 3u);
  EXPECT_EQ(document.at("by_module")[0].at("module"), "layers.0.attention.wq");
  EXPECT_EQ(flops_json(counted_subject(), 1).at("by_module").size(), 2u);
}

// Public case A08: 6 N counts the embedding's lookup, 51,118,080 with attention.
TEST(FlopsReport, ConventionsStandBesideTheCountWithTheirDifference) {
  const auto conventions = flops_json(counted_subject(), std::nullopt).at("conventions");
  std::map<std::string, std::pair<int64_t, double>> rows;
  for (const auto& row : conventions) {
    rows[row.at("convention")] = {row.at("step_flop"), row.at("difference_ratio")};
  }
  EXPECT_EQ(rows.at("matmul_full").first, 44'826'624);
  EXPECT_EQ(rows.at("matmul_full").second, 0);
  EXPECT_EQ(rows.at("matmul_causal").first, 44'826'624 - 6 * 2 * 64 * 32 * 64);
  EXPECT_EQ(rows.at("sixn_all").first, 6 * 125'248 * 64);
  EXPECT_NEAR(rows.at("sixn_all").second, 48'095'232.0 / 44'826'624 - 1, 1e-12);
}

TEST(FlopsReport, WhatWasLeftOutIsListed) {
  FlopsSubject subject = counted_subject();
  EXPECT_THAT(flops_tables(subject, TableStyle::text, 1), Not(HasSubstr("lower bound")));
  subject.flops.lower_bound = true;
  subject.flops.uncounted = {{"aten::_fft_r2c", 3}};
  const std::string text = flops_tables(subject, TableStyle::text, 1);
  EXPECT_THAT(text, HasSubstr("lower bound"));
  EXPECT_THAT(text, HasSubstr("aten::_fft_r2c"));
}

TEST(FlopsReport, AModelWithoutFormulasAndAttentionSaysNothingOfThem) {
  FlopsSubject subject = counted_subject();
  subject.formulas.reset();
  subject.attention_kernel = "none";
  subject.flops.by_precision.push_back({"bf16", 1, 1});
  const std::string text = flops_tables(subject, TableStyle::text, 1);
  EXPECT_THAT(text, Not(HasSubstr("convention")));
  EXPECT_THAT(text, Not(HasSubstr("attention in")));
  EXPECT_THAT(text, HasSubstr("number type"));
  EXPECT_FALSE(flops_json(subject, std::nullopt).contains("conventions"));
}

}  // namespace
}  // namespace flopmark
