#include "report/grid.h"

#include <gtest/gtest.h>

namespace flopmark {
namespace {

Grid small_grid() {
  return {"lrl", {{"name", "share", "rule"}, {"a|b", "9.00 %", "6 N"}, {"longer", "10.00 %", ""}}};
}

TEST(FormatGrid, TextColumnsAreAsWideAsTheyMustBe) {
  EXPECT_EQ(format_grid(small_grid(), TableStyle::text),
            "name      share  rule\n"
            "a|b      9.00 %  6 N\n"
            "longer  10.00 %\n");
}

TEST(FormatGrid, MarkdownEscapesMarks) {
  EXPECT_EQ(format_grid(small_grid(), TableStyle::markdown),
            "| name | share | rule |\n"
            "|---|---:|---|\n"
            "| a\\|b | 9.00 % | 6 N |\n"
            "| longer | 10.00 % |  |\n");
}

TEST(FormatFacts, AreParagraphsOrAList) {
  const Facts facts = {{"model", "tiny_llama"}, {"peak", "312 TFLOP/s"}};
  EXPECT_EQ(format_facts(facts, TableStyle::text), "model     tiny_llama\npeak      312 TFLOP/s\n");
  EXPECT_EQ(format_facts(facts, TableStyle::markdown), "- model: tiny\\_llama\n- peak: 312 TFLOP/s\n");
}

}  // namespace
}  // namespace flopmark
