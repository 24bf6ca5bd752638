#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace flopmark {

/// A key of a row's peaks: number type and unit. `accumulate` is the type its sums are kept in; training
/// keeps them in fp32, so the keys that end in _acc16 (twice the rate on GeForce cards) are never MFU's
/// denominator.
struct NumberFormat {
  const char* key;
  const char* unit;  ///< vector, matrix
  const char* accumulate;
};

/// Every key of `peak_tflops`, wide types first.
const std::vector<NumberFormat>& number_formats();
/// nullptr if there is no such key.
const NumberFormat* find_number_format(const std::string& key);

/// One kind of device of the table. Peaks are dense (no structured sparsity), at the boost clock the vendor
/// states.
struct PeakRow {
  std::string name;                          ///< how people call it
  std::vector<std::string> match;            ///< whole device names as the driver reports them
  std::map<std::string, double> flop_per_s;  ///< by key of number_formats()
  std::map<std::string, double> clock_hz;    ///< the clock each peak assumes, by the same keys
  std::map<std::string, double> flop_per_clock_per_sm;
  std::map<std::string, double> deviation_ratio;  ///< peak / (SMs x rate x clock) - 1 where over 1 %
  std::set<std::string> derived;  ///< keys whose peak and clock come one from the other: no cross-check
  std::optional<int64_t> sm_count;
  std::vector<std::string> sources, unverified;
  std::string notes;
  std::string origin;  ///< the file it was read from; empty: built in
};

using PeakTable = std::vector<PeakRow>;

/// peaks.json as it was when this program was built.
std::string peak_table_text();

/// Rows of a table such as peaks.json. A row must have name, match, peak_tflops and source; the other keys of
/// peaks.json may be left out. @throws Error 200 naming `source`, row and key: a key that is missing, unknown
/// or ill-typed; names that are not unique; peaks that fall as the type shrinks; a peak more than 1 % off SMs
/// x FLOPs per clock x clock of its own row without saying so in check_deviation_percent.
PeakTable parse_peak_table(const nlohmann::json& json, const std::string& source);
/// The same from text. @throws std::exception if `text` is no JSON.
PeakTable parse_peak_table(const std::string& text);

/// The built-in table, in the order of the file.
const PeakTable& peak_table();

/// `table` with `rows` put in place of those of the same name, else added. @throws Error 200 if a device name
/// is then in two rows.
PeakTable merge_peak_tables(const PeakTable& table, const PeakTable& rows);

/// The row whose name, or one of whose `match` names, is exactly `device_name`; nullptr if there is none.
const PeakRow* find_peak_row(const PeakTable& table, const std::string& device_name);
const PeakRow* find_peak_row(const std::string& device_name);  ///< of the built-in table

/// The device name that differs from `device_name` in case, blanks and hyphens only; empty if there is none.
/// For advice: it is never used in the other's place.
std::string similar_device_name(const PeakTable& table, const std::string& device_name);

/// SMs x FLOPs per clock and SM x clock of a row, FLOP/s: what its peak is checked against. Absent where the
/// row does not say all three.
std::optional<double> computed_peak(const PeakRow& row, const std::string& key);

}  // namespace flopmark
