#include <fmt/format.h>

#include <stdexcept>

#include "measure/json_fields.h"
#include "measure/samples.h"

namespace flopmark {
namespace {

/// A written sum must fit its parts: a hand-edited file would otherwise give an MFU that nothing supports.
void check_sum(const nlohmann::json& json, const char* key, const char* parts, int64_t sum) {
  const int64_t written = count_field(json, key);
  if (written != sum) {
    throw std::runtime_error(fmt::format("key \"{}\" is {}, but {} add up to {}", key, written, parts, sum));
  }
}

int64_t sum_of(const nlohmann::json& json, std::initializer_list<const char*> keys) {
  int64_t sum = 0;
  for (const char* key : keys) {
    if (__builtin_add_overflow(sum, count_field(json, key), &sum)) {
      throw std::runtime_error(fmt::format("key \"{}\": the sum of FLOPs is beyond 64 bits", key));
    }
  }
  return sum;
}

nlohmann::json precisions_to_json(const std::vector<PrecisionFlops>& rows) {
  nlohmann::json list = nlohmann::json::array();
  for (const PrecisionFlops& row : rows) {
    list.push_back(
        {{"precision", row.precision}, {"model_flop", row.model_flop}, {"hardware_flop", row.hardware_flop}});
  }
  return list;
}

nlohmann::json modules_to_json(const std::vector<ModuleFlops>& rows) {
  nlohmann::json list = nlohmann::json::array();
  for (const ModuleFlops& row : rows) {
    list.push_back({{"module", row.path},
                    {"forward_flop", row.forward_flop},
                    {"backward_flop", row.backward_flop},
                    {"backward_hardware_flop", row.backward_hardware_flop},
                    {"recompute_flop", row.recompute_flop},
                    {"model_flop", row.model_flop()},
                    {"hardware_flop", row.hardware_flop()}});
  }
  return list;
}

/// Rows by precision or by module; a file of an older version has none.
void read_optional_rows(const nlohmann::json& json, FlopTotals& totals) {
  if (json.contains("by_precision")) {
    for (const nlohmann::json& row : array_field(json, "by_precision")) {
      totals.by_precision.push_back(
          {text_field(row, "precision"), count_field(row, "model_flop"), count_field(row, "hardware_flop")});
    }
  }
  if (json.contains("by_module")) {
    for (const nlohmann::json& row : array_field(json, "by_module")) {
      totals.by_module.push_back(
          {text_field(row, "module"), count_field(row, "forward_flop"), count_field(row, "backward_flop"),
           count_field(row, "backward_hardware_flop"), count_field(row, "recompute_flop")});
    }
  }
}

}  // namespace

nlohmann::json to_json(const FlopTotals& totals) {
  nlohmann::json by_operator = nlohmann::json::array();
  for (const OperatorFlops& row : totals.by_operator) {
    by_operator.push_back({{"operator", row.name},
                           {"calls", row.calls},
                           {"model_flop", row.model_flop},
                           {"hardware_flop", row.hardware_flop}});
  }
  nlohmann::json uncounted = nlohmann::json::array();
  for (const UncountedOperator& row : totals.uncounted) {
    uncounted.push_back({{"operator", row.name}, {"calls", row.calls}});
  }
  nlohmann::json json = {{"forward_flop", totals.forward_flop},
                         {"backward_flop", totals.backward_flop},
                         {"recompute_flop", totals.recompute_flop},
                         {"backward_hardware_flop", totals.backward_hardware_flop},
                         {"optimizer_flop", totals.optimizer_flop},
                         {"model_flop", totals.model_flop()},
                         {"hardware_flop", totals.hardware_flop()},
                         {"attention_convention", totals.attention_convention},
                         {"lower_bound", totals.lower_bound},
                         {"by_operator", std::move(by_operator)},
                         {"by_precision", precisions_to_json(totals.by_precision)},
                         {"uncounted", std::move(uncounted)}};
  if (!totals.by_module.empty()) json["by_module"] = modules_to_json(totals.by_module);
  return json;
}

FlopTotals flop_totals_from_json(const nlohmann::json& json) {
  FlopTotals totals;
  totals.forward_flop = count_field(json, "forward_flop");
  totals.backward_flop = count_field(json, "backward_flop");
  totals.backward_hardware_flop = count_field(json, "backward_hardware_flop");
  totals.recompute_flop = count_field(json, "recompute_flop");
  totals.optimizer_flop = count_field(json, "optimizer_flop");
  check_sum(json, "model_flop", "forward and backward", sum_of(json, {"forward_flop", "backward_flop"}));
  check_sum(json, "hardware_flop", "forward, backward_hardware and recompute",
            sum_of(json, {"forward_flop", "backward_hardware_flop", "recompute_flop"}));
  totals.attention_convention = text_field(json, "attention_convention");
  totals.lower_bound = bool_field(json, "lower_bound");
  for (const nlohmann::json& row : array_field(json, "by_operator")) {
    totals.by_operator.push_back({text_field(row, "operator"), count_field(row, "calls"),
                                  count_field(row, "model_flop"), count_field(row, "hardware_flop")});
  }
  read_optional_rows(json, totals);
  for (const nlohmann::json& row : array_field(json, "uncounted")) {
    totals.uncounted.push_back({text_field(row, "operator"), count_field(row, "calls")});
  }
  return totals;
}

}  // namespace flopmark
