#include "hardware/peak_table.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace flopmark {
namespace {

using nlohmann::json;

/// Known values only: null stands for a clock nobody published.
std::map<std::string, double> scaled(const json& values, double factor) {
  std::map<std::string, double> result;
  for (const auto& [key, value] : values.items()) {
    if (!value.is_null()) result[key] = value.get<double>() * factor;
  }
  return result;
}

PeakRow parse_row(const json& row) {
  PeakRow result;
  result.name = row.at("name").get<std::string>();
  result.match = row.at("match").get<std::vector<std::string>>();
  result.flop_per_s = scaled(row.at("peak_tflops"), 1e12);
  result.clock_hz = scaled(row.at("check_clock_mhz"), 1e6);
  result.flop_per_clock_per_sm = scaled(row.at("flop_per_clock_per_sm"), 1.0);
  result.sm_count = row.at("sm_count").get<double>();
  result.sources = row.at("source").get<std::vector<std::string>>();
  result.unverified = row.at("unverified").get<std::vector<std::string>>();
  result.notes = row.at("notes").get<std::string>();
  return result;
}

}  // namespace

std::vector<PeakRow> parse_peak_table(const std::string& text) {
  std::vector<PeakRow> rows;
  for (const json& row : json::parse(text)) rows.push_back(parse_row(row));
  return rows;
}

const std::vector<PeakRow>& peak_table() {
  static const std::vector<PeakRow> rows = parse_peak_table(peak_table_text());
  return rows;
}

const PeakRow* find_peak_row(const std::string& device_name) {
  const auto& rows = peak_table();
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const PeakRow& row) {
    return std::find(row.match.begin(), row.match.end(), device_name) != row.match.end();
  });
  return found == rows.end() ? nullptr : &*found;
}

}  // namespace flopmark
