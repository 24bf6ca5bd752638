#include "report/mfu_parts.h"

#include <fmt/format.h>

#include "report/text_layout.h"
#include "report/units.h"

namespace flopmark {
namespace {

using Json = nlohmann::ordered_json;

template <typename Value>
Json optional_json(const std::optional<Value>& value) {
  return value ? Json(*value) : Json(nullptr);
}

}  // namespace

std::string peak_fact(const Peak& peak) {
  if (!peak.flop_per_s) return "n/a: " + printable(peak.reason.value_or("not known"));
  const std::string source = peak.source == "by_hand" ? "given by hand" : "from the table";
  const std::string precision = peak.precision.empty() ? "" : ", " + printable(peak.precision);
  const std::string device = peak.device ? " for " + printable(*peak.device) : "";
  return fmt::format("{} per device, dense{}, {}{}", format_flop_per_s(peak.flop_per_s), precision, source,
                     device);
}

Json peak_json(const Peak& peak) {
  Json object;
  object["flop_per_s"] = optional_json(peak.flop_per_s);
  object["precision"] = peak.precision.empty() ? Json(nullptr) : Json(peak.precision);
  object["source"] = peak.source;
  object["device"] = optional_json(peak.device);
  object["reason"] = optional_json(peak.reason);
  return object;
}

FlopRates rates_of(const TransformerShape& shape, double tokens_per_s_per_device,
                   const FlopConvention& convention, const HardwareRule* rule) {
  FlopRates rates;
  rates.model_flop_per_s = static_cast<double>(convention.flop_per_token(shape)) * tokens_per_s_per_device;
  if (rule != nullptr) {
    rates.hardware_flop_per_s = rule->flop_per_token(shape, convention) * tokens_per_s_per_device;
  }
  return rates;
}

std::string device_count_text(int64_t devices) {
  return fmt::format("{} device{}", format_count(devices), devices == 1 ? "" : "s");
}

void add_utilization(const FlopRates& rates, const Utilization& use, Json& object) {
  object["model_flop_per_s"] = rates.model_flop_per_s;
  object["hardware_flop_per_s"] = optional_json(rates.hardware_flop_per_s);
  object["mfu_ratio"] = optional_json(use.mfu_ratio);
  object["hfu_ratio"] = optional_json(use.hfu_ratio);
}

void add_all_devices(const FlopRates& rates, int64_t devices, Json& object) {
  const auto count = static_cast<double>(devices);
  object["model_flop_per_s_all_devices"] = rates.model_flop_per_s * count;
  object["hardware_flop_per_s_all_devices"] =
      rates.hardware_flop_per_s ? Json(*rates.hardware_flop_per_s * count) : Json(nullptr);
}

void add_status(const std::string& impossible, Json& object) {
  object["status"] = impossible.empty() ? "ok" : "invalid";
  object["warnings"] = Json::array();
  if (!impossible.empty()) object["warnings"].push_back({{"code", "not_believable"}, {"text", impossible}});
}

std::string impossible_figure(const Utilization& use) {
  const bool mfu = use.mfu_ratio.value_or(0) > 1;
  return fmt::format("{} {}", mfu ? "MFU" : "HFU", format_ratio(mfu ? use.mfu_ratio : use.hfu_ratio));
}

std::string rules_text(const Facts& rules, TableStyle style) {
  if (style == TableStyle::markdown) return "\n" + format_facts(rules, style);
  std::string text;
  for (const auto& [key, rule] : rules) text += hanging(fmt::format("  {:<24} ", key), rule);
  return text;
}

}  // namespace flopmark
