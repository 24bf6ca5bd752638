#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "flopmark/record.h"
#include "flops/conventions.h"
#include "metrics/utilization.h"
#include "report/grid.h"

namespace flopmark {

/// "989.4 TFLOP/s per device, dense, bf16, from the table's row of NVIDIA H100 80GB HBM3", or why not known.
std::string peak_fact(const Peak& peak);
nlohmann::ordered_json peak_json(const Peak& peak);

/// Rates of one device under a convention; hardware rates only with a rule.
FlopRates rates_of(const TransformerShape& shape, double tokens_per_s_per_device,
                   const FlopConvention& convention, const HardwareRule* rule);

/// "8 devices", "1 device".
std::string device_count_text(int64_t devices);

/// The keys of both: model_flop_per_s, hardware_flop_per_s (one device), mfu_ratio, hfu_ratio.
void add_utilization(const FlopRates& rates, const Utilization& use, nlohmann::ordered_json& object);
/// The same rates times the devices: model_flop_per_s_all_devices, hardware_flop_per_s_all_devices.
void add_all_devices(const FlopRates& rates, int64_t devices, nlohmann::ordered_json& object);

/// `status` ok or invalid, `warnings` with the text; an empty text is ok.
void add_status(const std::string& impossible, nlohmann::ordered_json& object);

/// "MFU 108.11 %", or HFU where only that is above 100 %.
std::string impossible_figure(const Utilization& use);

/// Key and formula of each rule, indented; in Markdown a list.
std::string rules_text(const Facts& rules, TableStyle style);

}  // namespace flopmark
