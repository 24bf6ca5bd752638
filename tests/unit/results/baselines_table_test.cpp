#include <gmock/gmock.h>

#include <algorithm>

#include "fakes/example_record.h"
#include "results/baseline_store.h"

namespace flopmark {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string row_of(const RunRecord& record) {
  const std::string table = baselines_table({{"baselines/x/y.json", record}});
  return table.substr(table.find("---|\n") + 5);
}

TEST(BaselinesTable, OneRowPerBaseline) {
  EXPECT_EQ(row_of(example_record()),
            "| 8 x NVIDIA H200 | x/y | llama-1b | 123457 tokens/s | 42.4 % | 44.0 % | 8.00 GiB | n/a | "
            "0123456789ab | 2026-11-30 |\n");
}

TEST(BaselinesTable, UnknownIsSaid) {
  RunRecord record = example_record();
  record.environment.device_name.reset();
  record.config = nlohmann::json::object();
  record.metrics = {};
  record.subject = {};
  record.time.clear();
  EXPECT_EQ(row_of(record), "| 8 x unknown | x/y | n/a | n/a | n/a | n/a | n/a | n/a | no commit |  |\n");
}

TEST(BaselinesTable, CpuModelsShowHostMemoryAndSamples) {
  RunRecord record = example_record();
  record.config["model"] = {{"type", "mlp"}};
  record.metrics.values = {{"samples_per_s", 60.25}, {"host_peak_bytes", 536870912.0}};
  EXPECT_THAT(row_of(record), HasSubstr("| mlp | 60.25 samples/s | n/a | n/a | 0.50 GiB host |"));
}

TEST(BaselinesTable, ForcedAndDirtyShow) {
  RunRecord record = example_record();
  record.subject.dirty = true;
  record.forced_reason = "machine | leaves";
  EXPECT_THAT(row_of(record), HasSubstr("0123456789ab + changes (forced: machine \\| leaves)"));
}

TEST(BaselinesTable, TextOfRecordsCannotBreakTheTable) {
  RunRecord record = example_record();
  record.environment.device_name = "a|b\n| <script>alert(1)</script>\x1B[2J";
  record.config["model"]["preset"] = "x | y\r\n";
  record.subject.commit = "|||\n";
  record.time = "|\n";
  const std::string row = row_of(record);
  EXPECT_EQ(std::count(row.begin(), row.end(), '\n'), 1);
  EXPECT_THAT(row, Not(HasSubstr(" <script")));
  EXPECT_THAT(row, Not(HasSubstr("\x1B")));
  EXPECT_THAT(row, HasSubstr("8 x a\\|b\\| \\<script\\>alert(1)\\</script\\>\\[2J |"));
}

}  // namespace
}  // namespace flopmark
