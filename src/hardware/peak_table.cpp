#include "hardware/peak_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "flopmark/error.h"

namespace flopmark {
namespace {

bool has_name(const PeakRow& row, const std::string& device_name) {
  return row.name == device_name ||
         std::find(row.match.begin(), row.match.end(), device_name) != row.match.end();
}

/// Letters and digits only, in lower case.
std::string folded(const std::string& name) {
  std::string text;
  for (const char c : name) {
    const char lower = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    if ((lower >= 'a' && lower <= 'z') || (lower >= '0' && lower <= '9')) text += lower;
  }
  return text;
}

void refuse_double_names(const PeakTable& table) {
  std::map<std::string, const PeakRow*> owners;
  for (const PeakRow& row : table) {
    std::set<std::string> names(row.match.begin(), row.match.end());
    names.insert(row.name);
    for (const std::string& name : names) {
      const auto [known, is_new] = owners.emplace(name, &row);
      if (is_new) continue;
      const std::string& other = known->second->name;
      throw usage_error(fmt::format(
          "{}: row \"{}\" has the device name \"{}\", which row \"{}\" has too; to replace a row, give "
          "the new one its name, \"{}\"",
          row.origin.empty() ? "peaks.json" : row.origin, row.name, name, other, other));
    }
  }
}

}  // namespace

const std::vector<NumberFormat>& number_formats() {
  static const std::vector<NumberFormat> kFormats = {
      {"fp64", "vector", "fp64"},        {"fp64_tensor", "matrix", "fp64"}, {"fp32", "vector", "fp32"},
      {"fp32_tensor", "matrix", "fp32"}, {"tf32", "matrix", "fp32"},        {"fp16", "matrix", "fp32"},
      {"fp16_acc16", "matrix", "fp16"},  {"bf16", "matrix", "fp32"},        {"fp8", "matrix", "fp32"},
      {"fp8_acc16", "matrix", "fp16"},   {"fp6", "matrix", "fp32"},         {"fp4", "matrix", "fp32"},
      {"int8", "matrix", "int32"},       {"int4", "matrix", "int32"}};
  return kFormats;
}

const NumberFormat* find_number_format(const std::string& key) {
  const auto& formats = number_formats();
  const auto found = std::find_if(formats.begin(), formats.end(),
                                  [&](const NumberFormat& format) { return format.key == key; });
  return found == formats.end() ? nullptr : &*found;
}

PeakTable parse_peak_table(const std::string& text) {
  return parse_peak_table(nlohmann::json::parse(text), "");
}

const PeakTable& peak_table() {
  static const PeakTable kRows = parse_peak_table(peak_table_text());
  return kRows;
}

PeakTable merge_peak_tables(const PeakTable& table, const PeakTable& rows) {
  PeakTable merged = table;
  for (const PeakRow& row : rows) {
    const auto same =
        std::find_if(merged.begin(), merged.end(), [&](const PeakRow& old) { return old.name == row.name; });
    if (same == merged.end()) {
      merged.push_back(row);
    } else {
      *same = row;
    }
  }
  refuse_double_names(merged);
  return merged;
}

const PeakRow* find_peak_row(const PeakTable& table, const std::string& device_name) {
  const auto found = std::find_if(table.begin(), table.end(),
                                  [&](const PeakRow& row) { return has_name(row, device_name); });
  return found == table.end() ? nullptr : &*found;
}

const PeakRow* find_peak_row(const std::string& device_name) {
  return find_peak_row(peak_table(), device_name);
}

std::string similar_device_name(const PeakTable& table, const std::string& device_name) {
  const std::string wanted = folded(device_name);
  if (wanted.empty()) return "";
  for (const PeakRow& row : table) {
    for (const std::string& name : row.match) {
      if (folded(name) == wanted && name != device_name) return name;
    }
  }
  return "";
}

std::optional<double> computed_peak(const PeakRow& row, const std::string& key) {
  const auto rate = row.flop_per_clock_per_sm.find(key);
  const auto clock = row.clock_hz.find(key);
  if (!row.sm_count || rate == row.flop_per_clock_per_sm.end() || clock == row.clock_hz.end()) {
    return std::nullopt;
  }
  return static_cast<double>(*row.sm_count) * rate->second * clock->second;
}

}  // namespace flopmark
