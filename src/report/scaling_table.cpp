#include "report/scaling_table.h"

#include <fmt/format.h>

#include "report/grid.h"
#include "report/text_layout.h"
#include "report/units.h"

namespace flopmark {
namespace {

std::optional<double> metric(const RunRecord& record, const char* key) {
  const auto found = record.metrics.values.find(key);
  return found == record.metrics.values.end() ? std::nullopt : found->second;
}

ScalingRow row_of(const RunRecord& record) {
  ScalingRow row;
  row.ranks = record.environment.device_count;
  row.samples_per_s = metric(record, "samples_per_s");
  row.samples_per_s_per_rank = metric(record, "samples_per_s_per_device");
  if (record.metrics.step_s) row.step_s = record.metrics.step_s->median;
  row.exposed_ratio = metric(record, "communication_exposed_ratio");
  return row;
}

bool is_on_cpu(const RunRecord& record) {
  return !record.environment.cuda.has_value();
}

/// What "efficiency" is, and why it is less than it seems where the ranks share what they compute with.
std::string efficiency_note(const std::vector<RunRecord>& records) {
  const int64_t first = records.front().environment.device_count;
  std::string text = fmt::format("samples/s over those of {} times the number of ranks",
                                 first == 1 ? "1 rank" : fmt::format("{} ranks", first));
  if (is_on_cpu(records.front())) {
    text += "; ranks on CPUs of one host share its cores, so that more of them are not more hardware";
  }
  return hanging("efficiency: ", text);
}

}  // namespace

std::vector<ScalingRow> scaling_rows(const std::vector<RunRecord>& records) {
  std::vector<ScalingRow> rows;
  for (const RunRecord& record : records) rows.push_back(row_of(record));
  for (ScalingRow& row : rows) {
    const ScalingRow& first = rows.front();
    if (!row.samples_per_s || !first.samples_per_s || !(*first.samples_per_s > 0)) continue;
    const double more = static_cast<double>(row.ranks) / static_cast<double>(first.ranks);
    row.efficiency_ratio = *row.samples_per_s / (more * *first.samples_per_s);
  }
  return rows;
}

std::string scaling_table(const std::vector<RunRecord>& records) {
  Grid grid{
      .align = "rrrrrr",
      .rows = {{"ranks", "samples/s", "per rank", "step, median", "communication exposed", "efficiency"}}};
  for (const ScalingRow& row : scaling_rows(records)) {
    // One rank exchanges nothing.
    const std::string exposed = row.ranks == 1 && !row.exposed_ratio ? "-" : format_ratio(row.exposed_ratio);
    grid.rows.push_back({fmt::format("{}", row.ranks), format_rate(row.samples_per_s),
                         format_rate(row.samples_per_s_per_rank), format_seconds(row.step_s), exposed,
                         format_share(row.efficiency_ratio)});
  }
  return printable(records.front().name) + "\n" + format_grid(grid, TableStyle::text) +
         efficiency_note(records);
}

}  // namespace flopmark
