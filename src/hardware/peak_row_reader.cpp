#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "flopmark/error.h"
#include "hardware/peak_row_check.h"
#include "hardware/peak_table.h"

namespace flopmark {
namespace {

using nlohmann::json;

constexpr double kMostTflops = 1e6;  // of one device; more means that another unit was meant
/// Keys of a row that are read, and those that are only there for people.
constexpr std::array kRowKeys = {
    "name",          "match",       "peak_tflops",     "source",  "sm_count",  "flop_per_clock_per_sm",
    "unverified",    "notes",       "check_clock_mhz", "derived", "vendor",    "check_deviation_percent",
    "arch",          "form_factor", "memory_gb",       "cc",      "boost_mhz", "tensor_clock_mhz",
    "bandwidth_gb_s"};

std::string quotation(const json& value) {
  const std::string text = value.dump(-1, ' ', true, json::error_handler_t::replace);
  return text.size() <= 60 ? text : text.substr(0, 57) + "...";
}

/// Reads one row strictly; a fault names the file, the row and the key.
class RowReader {
 public:
  RowReader(const json& row, std::string place) : row_(row), place_(std::move(place)) {
    if (!row.is_object()) {
      throw usage_error(
          fmt::format("{}: must be an object such as {{\"name\": ..., \"match\": [...], ...}}, "
                      "found {}",
                      place_, quotation(row)));
    }
    const auto name = row.find("name");
    if (name != row.end() && name->is_string()) place_ += " (" + quotation(*name) + ")";
    for (const auto& [key, value] : row.items()) {
      if (std::find(kRowKeys.begin(), kRowKeys.end(), key) == kRowKeys.end()) {
        throw usage_error(fmt::format("{}: unknown key {}; the keys of a row are {}", place_, quotation(key),
                                      fmt::join(kRowKeys, ", ")));
      }
    }
  }

  /// A list of texts, or what stands for it when the key is missing.
  std::vector<std::string> texts(const char* key) const {
    std::vector<std::string> result;
    const json& list = value_of(key);
    if (list.is_null()) return result;
    if (!list.is_array()) refuse(key, "a list of texts", list);
    for (const json& value : list) result.push_back(text_in(value, key));
    return result;
  }
  std::vector<std::string> required_texts(const char* key) const {
    require(key);
    std::vector<std::string> result = texts(key);
    if (result.empty()) refuse(key, "a list of at least one text", value_of(key));
    return result;
  }
  std::string text(const char* key) const {
    const json& value = value_of(key);
    return value.is_null() || value == "" ? "" : text_in(value, key);
  }
  std::string required_text(const char* key) const {
    require(key);
    return text_in(value_of(key), key);
  }
  std::optional<int64_t> count(const char* key) const {
    const json& value = value_of(key);
    if (value.is_null()) return std::nullopt;
    const bool whole = value.is_number_integer() && value > 0 && value <= 1000000;
    if (!whole) refuse(key, "a whole number from 1 to 1,000,000", value);
    return value.get<int64_t>();
  }
  /// Numbers by precision, times `factor`. null, which stands for a figure nobody published, is left out.
  std::map<std::string, double> numbers(const char* key, double factor, double least, double most) const {
    std::map<std::string, double> result;
    const json& values = value_of(key);
    if (values.is_null()) return result;
    if (!values.is_object()) refuse(key, "an object of numbers by precision", values);
    for (const auto& [precision, value] : values.items()) {
      check_precision(key, precision);
      if (value.is_null()) continue;
      const bool right =
          value.is_number() && std::isfinite(value.get<double>()) && value > least && value <= most;
      if (!right) {
        const std::string place = fmt::format("{}.{}", key, precision);
        refuse(place.c_str(), fmt::format("a number above {:g} and up to {:g}", least, most).c_str(), value);
      }
      result[precision] = value.get<double>() * factor;
    }
    return result;
  }
  void check_precision(const char* key, const std::string& precision) const {
    if (find_number_format(precision) != nullptr) return;
    std::string known;
    for (const NumberFormat& format : number_formats())
      known += (known.empty() ? "" : ", ") + std::string(format.key);
    throw usage_error(fmt::format("{}: key \"{}\": unknown precision {}; known are {}", place_, key,
                                  quotation(precision), known));
  }
  void require(const char* key) const {
    if (!row_.contains(key)) throw usage_error(fmt::format("{}: key \"{}\" is missing", place_, key));
  }
  [[noreturn]] void refuse(const char* key, const char* wanted, const json& found) const {
    throw usage_error(
        fmt::format("{}: key \"{}\" must be {}, found {}", place_, key, wanted, quotation(found)));
  }
  const std::string& place() const { return place_; }

 private:
  const json& value_of(const char* key) const {
    static const json kAbsent;
    const auto found = row_.find(key);
    return found == row_.end() ? kAbsent : *found;
  }
  std::string text_in(const json& value, const char* key) const {
    if (!value.is_string() || value.get_ref<const std::string&>().empty()) refuse(key, "a text", value);
    return value.get<std::string>();
  }

  const json& row_;
  std::string place_;
};

PeakRow row_of(const RowReader& reader) {
  PeakRow row;
  row.name = reader.required_text("name");
  row.match = reader.required_texts("match");
  reader.require("peak_tflops");
  row.flop_per_s = reader.numbers("peak_tflops", 1e12, 0, kMostTflops);
  if (row.flop_per_s.empty()) reader.refuse("peak_tflops", "peaks by precision, in TFLOP/s", json::object());
  row.sources = reader.required_texts("source");
  row.sm_count = reader.count("sm_count");
  row.clock_hz = reader.numbers("check_clock_mhz", 1e6, 0, 1e5);
  row.flop_per_clock_per_sm = reader.numbers("flop_per_clock_per_sm", 1.0, 0, 1e7);
  row.deviation_ratio = reader.numbers("check_deviation_percent", 0.01, -100, 1000);
  for (const std::string& precision : reader.texts("derived")) {
    reader.check_precision("derived", precision);
    row.derived.insert(precision);
  }
  row.unverified = reader.texts("unverified");
  row.notes = reader.text("notes");
  return row;
}

}  // namespace

PeakTable parse_peak_table(const json& document, const std::string& source) {
  const std::string file = source.empty() ? "peaks.json" : source;
  if (!document.is_array() || document.empty()) {
    throw usage_error(
        fmt::format("{}: must be a list of rows, [{{\"name\": ..., \"match\": [...], \"peak_tflops\": "
                    "{{...}}, \"source\": [...]}}], found {}",
                    file, quotation(document)));
  }
  PeakTable table;
  for (size_t i = 0; i < document.size(); ++i) {
    const RowReader reader(document[i], fmt::format("{}: row {}", file, i + 1));
    PeakRow row = row_of(reader);
    row.origin = source;
    check_peak_row(row, reader.place());
    const bool known =
        std::any_of(table.begin(), table.end(), [&](const PeakRow& other) { return other.name == row.name; });
    if (known)
      throw usage_error(fmt::format("{}: another row has this name; keep one of them", reader.place()));
    table.push_back(std::move(row));
  }
  return merge_peak_tables({}, table);
}

}  // namespace flopmark
