#include <fmt/format.h>

#include "results/baseline_store.h"
#include "results/markdown_text.h"

namespace flopmark {
namespace {

constexpr const char* kUnknown = "n/a";
constexpr double kGibibyte = 1024.0 * 1024.0 * 1024.0;

std::optional<double> metric(const RunRecord& record, const char* key) {
  const auto found = record.metrics.values.find(key);
  return found == record.metrics.values.end() ? std::nullopt : found->second;
}

std::string percent(std::optional<double> ratio) {
  return ratio ? fmt::format("{:.1f} %", 100.0 * *ratio) : kUnknown;
}

std::string throughput(const RunRecord& record) {
  for (const char* what : {"tokens", "images", "samples"}) {
    const auto value = metric(record, fmt::format("{}_per_s", what).c_str());
    if (value) return fmt::format("{:.{}f} {}/s", *value, *value < 100 ? 2 : 0, what);
  }
  return kUnknown;
}

/// What the device allocated; on a CPU, what the process used.
std::string memory(const RunRecord& record) {
  if (const auto device = metric(record, "memory_peak_allocated_bytes")) {
    return fmt::format("{:.2f} GiB", *device / kGibibyte);
  }
  const auto host = metric(record, "host_peak_bytes");
  return host ? fmt::format("{:.2f} GiB host", *host / kGibibyte) : kUnknown;
}

std::string model(const nlohmann::json& config) {
  for (const char* place : {"/model/preset", "/model/type"}) {
    const auto pointer = nlohmann::json::json_pointer(place);
    if (!config.contains(pointer) || !config.at(pointer).is_string()) continue;
    const auto name = config.at(pointer).get<std::string>();
    if (!name.empty()) return markdown_escaped(name);
  }
  return kUnknown;
}

std::string anchor_mark(const StoredBaseline& stored) {
  if (role_of(stored.path) == BaselineRole::rolling) return "";
  const auto& reason = stored.record.anchor_reason;
  return reason ? fmt::format(" (anchor: {})", markdown_escaped(*reason)) : " (anchor)";
}

std::string commit(const StoredBaseline& stored) {
  const RunRecord& record = stored.record;
  std::string text =
      record.subject.commit ? markdown_escaped(record.subject.commit->substr(0, 12)) : "no commit";
  if (record.subject.dirty.value_or(false)) text += " + changes";
  if (record.forced_reason) text += fmt::format(" (forced: {})", markdown_escaped(*record.forced_reason));
  return text + anchor_mark(stored);
}

std::string hardware(const RunRecord& record) {
  const Environment& environment = record.environment;
  const std::string name = environment.device_name.value_or(environment.cpu_model.value_or("unknown"));
  return fmt::format("{} x {}", environment.device_count, markdown_escaped(name));
}

std::string row(const StoredBaseline& stored) {
  const RunRecord& record = stored.record;
  return fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |\n", hardware(record),
                     markdown_escaped(baseline_key(stored.path)), model(record.config), throughput(record),
                     percent(metric(record, "mfu_ratio")), percent(metric(record, "hfu_ratio")),
                     memory(record), percent(metric(record, "communication_ratio")), commit(stored),
                     markdown_escaped(record.time.substr(0, 10)));
}

}  // namespace

std::string baselines_table(const std::vector<StoredBaseline>& baselines) {
  std::string table =
      "| Hardware | Baseline | Model | Throughput | MFU | HFU | Memory per device | Communication share | "
      "Commit | Date |\n"
      "|---|---|---|---:|---:|---:|---:|---:|---|---|\n";
  for (const auto& baseline : baselines) table += row(baseline);
  return table;
}

}  // namespace flopmark
