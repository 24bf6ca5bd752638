#include "report/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "config/presets.h"
#include "flopmark/counted.h"
#include "flops/closed_form.h"
#include "measure/ruler.h"
#include "report/metric_table.h"
#include "report/rank_table.h"
#include "report/shell_quoted.h"
#include "report/text_layout.h"
#include "report/units.h"

namespace flopmark {
namespace {

constexpr size_t kTopOperators = 5;
constexpr size_t kShortCommit = 10;

/// The scalar at `pointer` of a resolved config as text; empty if there is none.
std::string config_text(const RunRecord& record, const char* pointer) {
  const nlohmann::json::json_pointer place(pointer);
  if (!record.config.contains(place)) return "";
  const nlohmann::json& value = record.config.at(place);
  if (value.is_null() || value.is_structured()) return "";
  return printable(value.is_string() ? value.get<std::string>() : value.dump());
}

std::string joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) {
    if (!part.empty()) text += (text.empty() ? "" : ", ") + part;
  }
  return text;
}

std::string prefixed(const std::string& word, const std::optional<std::string>& value) {
  return value ? word + printable(*value) : "";
}

std::string device_line(const RunRecord& record) {
  const Environment& environment = record.environment;
  const bool is_cpu = !environment.cuda.has_value();
  const std::string count = environment.device_count == 1 ? ""
                            : is_cpu ? fmt::format("{} ranks on ", environment.device_count)
                                     : fmt::format("{} x ", environment.device_count);
  const std::string each = environment.device_count == 1 ? "" : " each";
  const std::string threads = environment.threads ? counted(*environment.threads, "thread") + each : "";
  return hanging("device   ",
                 joined({count + printable(environment.device_name.value_or("unknown device")), threads,
                         prefixed("LibTorch ", environment.libtorch), prefixed("CUDA ", environment.cuda),
                         prefixed("driver ", environment.driver)}));
}

std::string batch_text(const RunRecord& record) {
  const std::string batch = config_text(record, "/data/batch_size");
  const std::string length = config_text(record, "/data/sequence_length");
  const std::string accumulation = config_text(record, "/train/gradient_accumulation");
  std::string text = batch.empty() ? "" : "batch " + batch;
  if (!length.empty()) text += " x " + length + (length == "1" ? " token" : " tokens");
  if (!accumulation.empty() && accumulation != "1") text += " x " + accumulation + " accumulated";
  if (!text.empty() && record.environment.device_count > 1)
    text += fmt::format(" x {} ranks", record.environment.device_count);
  return text;
}

/// The preset's name, and whether keys of the config made another model of it.
std::string preset_text(const RunRecord& record) {
  std::string name = config_text(record, "/model/preset");
  const ModelShape* preset = find_preset(name);
  if (preset == nullptr) return name;
  return record.parameters && *record.parameters != count_parameters(*preset) ? name + ", changed" : name;
}

std::string file_name(const std::string& path) {
  return path.substr(path.find_last_of('/') + 1);
}

/// A built-in model and its preset, or the file of one that is not.
std::string model_text(const RunRecord& record) {
  const std::string script = config_text(record, "/model/torchscript");
  if (!script.empty()) return "TorchScript " + file_name(script);
  const std::string exported = config_text(record, "/model/exported");
  if (!exported.empty()) return "torch.export " + file_name(exported);
  const std::string plugin = config_text(record, "/model/plugin");
  const std::string source = plugin.empty() ? preset_text(record) : "plug-in " + file_name(plugin);
  const std::string experts = config_text(record, "/model/experts");
  return config_text(record, "/model/type") + (source.empty() ? "" : " (" + source + ")") +
         (experts.empty() ? ""
                          : ", " + config_text(record, "/model/experts_per_token") + " of " + experts +
                                " experts per token");
}

std::string model_line(const RunRecord& record) {
  const std::string parameters = record.parameters ? format_counted(*record.parameters, "parameter") : "";
  return hanging("model    ", joined({model_text(record), parameters, batch_text(record),
                                      config_text(record, "/train/precision"),
                                      config_text(record, "/train/optimizer/type")}));
}

/// Samples of an epoch that no step sees, because they do not fill a batch of all ranks.
std::string dropped_text(const RunRecord& record) {
  const auto& config = record.config;
  const nlohmann::json::json_pointer size("/data/batch_size"), drops("/data/drop_last");
  if (!record.data.samples || !record.data.path || !config.contains(size) || !config.contains(drops))
    return "";
  if (config.at(drops) != true || !config.at(size).is_number_integer()) return "";
  const int64_t batch = config.at(size).get<int64_t>() * record.environment.device_count;
  const int64_t rest = batch > 0 ? *record.data.samples % batch : 0;
  return rest == 0 ? "" : fmt::format("{} of them dropped each epoch (data.drop_last)", rest);
}

std::string data_line(const RunRecord& record) {
  const DataSummary& data = record.data;
  const std::string path = data.path.value_or(config_text(record, "/data/path"));
  const std::string file = printable(file_name(path));
  const std::string plugin = file_name(config_text(record, "/data/plugin"));
  return hanging("data     ",
                 joined({config_text(record, "/data/type") + (file.empty() ? "" : " " + file),
                         plugin.empty() ? "" : "plug-in " + plugin, prefixed("format ", data.format),
                         data.tokens ? format_counted(*data.tokens, "token") : "",
                         data.samples ? format_counted(*data.samples, "sample") : "", dropped_text(record)}));
}

std::string subject_line(const RunRecord& record) {
  const Subject& subject = record.subject;
  if (!subject.commit)
    return hanging("commit   ", "none: " + printable(subject.reason.value_or("not known")));
  const std::string branch = subject.branch ? "on " + printable(*subject.branch) : "detached";
  return hanging("commit   ", joined({printable(subject.commit->substr(0, kShortCommit)), branch,
                                      subject.dirty.value_or(false) ? "with uncommitted changes" : ""}));
}

std::string operators_table(const RunRecord& record) {
  if (!record.flops || record.flops->by_operator.empty()) return "";
  std::vector<OperatorFlops> operators = record.flops->by_operator;
  std::stable_sort(operators.begin(), operators.end(),
                   [](const auto& a, const auto& b) { return a.model_flop > b.model_flop; });
  const auto total = static_cast<double>(record.flops->model_flop());
  std::vector<TableRow> rows;
  for (size_t i = 0; i < std::min(kTopOperators, operators.size()); ++i) {
    const OperatorFlops& entry = operators[i];
    const auto flop = static_cast<double>(entry.model_flop);
    if (total <= 0 || flop <= 0) break;
    rows.push_back(
        {"  " + printable(entry.name), format_flop(flop),
         fmt::format("{} of the step, {}", format_share(flop / total), format_counted(entry.calls, "call"))});
  }
  return rows.empty() ? "" : "\ntop operators by model FLOPs\n" + format_table(rows);
}

std::string conventions(const RunRecord& record) {
  if (!record.flops) return "";
  const FlopTotals& flops = *record.flops;
  const std::string attention =
      flops.attention_convention == "full" ? "in full" : printable(flops.attention_convention);
  std::string text = fmt::format("1 multiply-add = 2 FLOP; attention counted {}", attention);
  if (record.attention_kernel) text += ", kernel " + printable(*record.attention_kernel);
  if (flops.lower_bound) text += "; a lower bound: an operator without a rule ran";
  return "\n" + hanging("FLOPs    ", text);
}

/// Only where the machine's own speed changed during the run.
std::string ruler_line(const RunRecord& record) {
  if (!record.ruler || !ruler_moved(*record.ruler)) return "";
  if (record.ruler->matmul_s.empty() || record.ruler->copy_s.empty()) return "";
  const auto range = [](const std::vector<double>& readings_s, double work) {
    const auto [fastest, slowest] = std::minmax_element(readings_s.begin(), readings_s.end());
    return std::pair(work / *slowest, work / *fastest);
  };
  const auto [slow_flop_per_s, fast_flop_per_s] =
      range(record.ruler->matmul_s, static_cast<double>(record.ruler->matmul_flop));
  const auto [slow_bytes_per_s, fast_bytes_per_s] =
      range(record.ruler->copy_s, static_cast<double>(record.ruler->copy_bytes));
  return hanging("ruler    ",
                 fmt::format("the machine's own speed moved: matmul {} to {}, copy {}/s to {}/s",
                             format_flop_per_s(slow_flop_per_s), format_flop_per_s(fast_flop_per_s),
                             format_bytes(slow_bytes_per_s), format_bytes(fast_bytes_per_s)));
}

std::string warning_lines(const RunRecord& record) {
  std::string lines;
  for (const Warning& warning : record.warnings) {
    lines += hanging("warning  ", printable(warning.code) + ": " + printable(warning.text));
  }
  return lines;
}

std::string baseline_line(const RunRecord& record, const SummaryContext& context) {
  if (!context.mention_baseline) return "";
  if (!context.baseline) {
    return "no baseline for this hardware; save one with:\n  flopmark baseline save " +
           shell_quoted(context.record_path) + "\n";
  }
  const BaselineLine& baseline = *context.baseline;
  if (baseline.problem)
    return hanging("baseline ", "on file, but unreadable: " + printable(*baseline.problem));
  const auto own = record.metrics.values.find("samples_per_s");
  return hanging("baseline ",
                 fmt::format("on file: {} samples/s at commit {}; this run {} samples/s. Two numbers side by "
                             "side are no verdict.",
                             format_rate(baseline.samples_per_s),
                             printable(baseline.commit.value_or("unknown").substr(0, kShortCommit)),
                             format_rate(own == record.metrics.values.end() ? std::nullopt : own->second)));
}

std::string mark(const RunRecord& record) {
  if (record.status == "invalid") {
    return "INVALID: these numbers are not believable (see the warnings); they cannot become a baseline\n";
  }
  if (record.status == "incomplete")
    return "INCOMPLETE: interrupted; the numbers are of the steps that were measured\n";
  if (record.status != "failed") return "";
  return record.failure ? hanging("FAILED: ", printable(failure_text(*record.failure))) : "FAILED\n";
}

/// Whether `text` has "rank 3" in it, and not only "rank 30".
bool names_rank(const std::string& text, int64_t rank) {
  const std::string name = rank_name(rank, {});
  for (size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + 1)) {
    const size_t end = at + name.size();
    if (end == text.size() || text[end] < '0' || text[end] > '9') return true;
  }
  return false;
}

/// The rank that failed, where its message does not name it.
std::string culprit_text(const Failure& failure) {
  if (!failure.rank || names_rank(failure.text, *failure.rank)) return "";
  return rank_name(*failure.rank, failure.host) + ": ";
}

}  // namespace

std::string failure_text(const Failure& failure) {
  const std::string step = failure.step ? fmt::format(", step {}", *failure.step) : "";
  const bool has_place = failure.text.find("phase " + failure.phase) != std::string::npos;
  std::string text =
      has_place ? failure.text : fmt::format("{} (in phase {}{})", failure.text, failure.phase, step);
  std::string safe = printable(failure.kind) + ": " + culprit_text(failure);
  for (size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n')) {
    safe += printable(text.substr(0, end)) + "\n";
    text.erase(0, end + 1);
  }
  return safe + printable(text);
}

std::string summarize(const RunRecord& record, const SummaryContext& context) {
  const std::string table = metric_table(record);
  const std::string ranks = rank_table(record);
  const std::string path =
      context.record_path.empty() ? "" : "record   " + printable(context.record_path) + "\n";
  return printable(record.name) + "\n" + device_line(record) + model_line(record) + data_line(record) +
         subject_line(record) + (table.empty() ? "" : "\n" + table) + (ranks.empty() ? "" : "\n" + ranks) +
         operators_table(record) + conventions(record) + ruler_line(record) + warning_lines(record) + path +
         baseline_line(record, context) + mark(record);
}

}  // namespace flopmark
