#include <fmt/format.h>

#include "report/mfu_parts.h"
#include "report/mfu_report.h"
#include "report/units.h"

namespace flopmark {
namespace {

using Json = nlohmann::ordered_json;

/// One convention's figures.
struct ConventionFigures {
  const FlopConvention* convention;
  int64_t model_flop_per_token;
  double hardware_flop_per_token;
  double difference_ratio;  ///< of the model FLOPs, from the exact convention's
  FlopRates rates;
  Utilization use;
};

std::vector<ConventionFigures> all_figures(const MfuSubject& subject) {
  const auto exact = static_cast<double>(exact_convention().flop_per_token(subject.shape));
  std::vector<ConventionFigures> figures;
  for (const FlopConvention& convention : flop_conventions()) {
    ConventionFigures row{};
    row.convention = &convention;
    row.model_flop_per_token = convention.flop_per_token(subject.shape);
    row.hardware_flop_per_token = subject.hardware_rule->flop_per_token(subject.shape, convention);
    row.difference_ratio = static_cast<double>(row.model_flop_per_token) / exact - 1;
    row.rates = rates_of(subject.shape, subject.tokens_per_s_per_device, convention, subject.hardware_rule);
    row.use = utilization_of(row.rates, subject.peak.flop_per_s);
    figures.push_back(row);
  }
  return figures;
}

double tokens_per_s(const MfuSubject& subject) {
  return subject.tokens_per_s_per_device * static_cast<double>(subject.devices);
}

Facts facts_of(const MfuSubject& subject) {
  const TransformerShape& shape = subject.shape;
  return {
      {"model",
       fmt::format("{}: L {}, H {}, Q {}, d {}, T {}", printable(subject.model), format_count(shape.layers),
                   format_count(shape.heads), format_count(shape.head_size), format_count(shape.hidden_size),
                   format_count(shape.sequence_length))},
      {"params",
       fmt::format("N {} in all, {} without the input embedding, Nmm {} in matmuls (output layer {})",
                   format_count(shape.parameters), format_count(shape.parameters_without_input_embedding),
                   format_count(shape.matmul_parameters), format_count(shape.output_parameters))},
      {"speed", fmt::format("{} tokens/s per device, {} tokens/s in all on {}; given: {}",
                            format_rate(subject.tokens_per_s_per_device), format_rate(tokens_per_s(subject)),
                            device_count_text(subject.devices), printable(subject.given))},
      {"peak", peak_fact(subject.peak)},
      {"re-run", fmt::format("checkpointing {}: hardware FLOPs = {}; what a fused attention kernel computes "
                             "again in its backward is left out, as in published tables",
                             subject.checkpointing, subject.hardware_rule->rule)},
  };
}

Grid figures_grid(const std::vector<ConventionFigures>& figures) {
  Grid grid{"lrrrrrr", {{"convention", "FLOP/token", "model", "hardware", "MFU", "HFU", "to exact"}}};
  for (const ConventionFigures& row : figures) {
    grid.rows.push_back(
        {row.convention->key, format_flop(static_cast<double>(row.model_flop_per_token)),
         format_flop_per_s(row.rates.model_flop_per_s), format_flop_per_s(row.rates.hardware_flop_per_s),
         format_ratio(row.use.mfu_ratio), format_ratio(row.use.hfu_ratio),
         row.convention == &exact_convention() ? "exact"
                                               : fmt::format("{:+.2f} %", row.difference_ratio * 100)});
  }
  return grid;
}

Facts rules_of_conventions() {
  Facts rules;
  for (const FlopConvention& convention : flop_conventions()) {
    rules.emplace_back(convention.key, fmt::format("{}: {}", convention.formula, convention.meaning));
  }
  return rules;
}

/// Empty where every figure is possible.
std::string impossible_text(const MfuSubject& subject, const std::vector<ConventionFigures>& figures) {
  std::string which;
  for (const ConventionFigures& row : figures) {
    if (row.use.is_possible()) continue;
    which +=
        fmt::format("{}{} by {}", which.empty() ? "" : ", ", impossible_figure(row.use), row.convention->key);
  }
  if (which.empty()) return "";
  return fmt::format(
      "above 100 % is impossible ({}): no device does more than its peak. Used: {} tokens/s per device on "
      "{}, peak {}. Check that the throughput is of so many devices and of this model, and the peak of this "
      "device and precision",
      which, format_rate(subject.tokens_per_s_per_device), device_count_text(subject.devices),
      peak_fact(subject.peak));
}

Json shape_json(const MfuSubject& subject) {
  const TransformerShape& shape = subject.shape;
  return {{"name", subject.model},
          {"layers", shape.layers},
          {"heads", shape.heads},
          {"head_size", shape.head_size},
          {"hidden_size", shape.hidden_size},
          {"sequence_length", shape.sequence_length},
          {"parameters", shape.parameters},
          {"parameters_without_input_embedding", shape.parameters_without_input_embedding},
          {"matmul_parameters", shape.matmul_parameters},
          {"output_parameters", shape.output_parameters}};
}

Json throughput_json(const MfuSubject& subject) {
  const auto length = static_cast<double>(subject.shape.sequence_length);
  return {{"given", subject.given},
          {"tokens_per_s", tokens_per_s(subject)},
          {"tokens_per_s_per_device", subject.tokens_per_s_per_device},
          {"samples_per_s", tokens_per_s(subject) / length},
          {"samples_per_s_per_device", subject.tokens_per_s_per_device / length}};
}

Json figures_json(const ConventionFigures& row, int64_t devices) {
  Json object = {{"convention", row.convention->key},
                 {"formula", row.convention->formula},
                 {"model_flop_per_token", row.model_flop_per_token},
                 {"hardware_flop_per_token", row.hardware_flop_per_token},
                 {"difference_ratio", row.difference_ratio}};
  add_utilization(row.rates, row.use, object);
  add_all_devices(row.rates, devices, object);
  return object;
}

}  // namespace

std::string mfu_table(const MfuSubject& subject, TableStyle style) {
  const std::vector<ConventionFigures> figures = all_figures(subject);
  const std::string impossible = impossible_text(subject, figures);
  const std::string mark = impossible.empty() ? "" : "\n" + format_facts({{"INVALID", impossible}}, style);
  return format_facts(facts_of(subject), style) + "\n" + format_grid(figures_grid(figures), style) +
         "\nmodel and hardware: of one device. FLOPs per token, forward and backward, 1 multiply-add = 2 "
         "FLOP:\n" +
         rules_text(rules_of_conventions(), style) + mark;
}

Json mfu_json(const MfuSubject& subject) {
  const std::vector<ConventionFigures> figures = all_figures(subject);
  Json document;
  document["model"] = shape_json(subject);
  document["devices"] = subject.devices;
  document["throughput"] = throughput_json(subject);
  document["peak"] = peak_json(subject.peak);
  document["checkpointing"] = subject.checkpointing;
  document["hardware_rule"] = {{"key", subject.hardware_rule->key}, {"rule", subject.hardware_rule->rule}};
  document["exact_convention"] = exact_convention().key;
  for (const ConventionFigures& row : figures) {
    document["conventions"].push_back(figures_json(row, subject.devices));
  }
  add_status(impossible_text(subject, figures), document);
  return document;
}

}  // namespace flopmark
