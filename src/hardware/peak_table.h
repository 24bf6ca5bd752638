#pragma once

#include <map>
#include <string>
#include <vector>

namespace flopmark {

/// One kind of device of the built-in table. Peaks are dense (no structured sparsity), at the boost clock the
/// vendor states.
struct PeakRow {
  std::string name;                ///< how people call it
  std::vector<std::string> match;  ///< whole device names as the driver reports them
  std::map<std::string, double>
      flop_per_s;  ///< by unit and precision: fp64, fp32, fp32_tensor, tf32, bf16, ...
  std::map<std::string, double> clock_hz;  ///< the clock each peak assumes, by the same keys
  std::map<std::string, double> flop_per_clock_per_sm;
  double sm_count = 0;
  std::vector<std::string> sources, unverified;
  std::string notes;
};

/// peaks.json as it was when this program was built.
std::string peak_table_text();

/// Rows of a table such as peaks.json. @throws std::exception if `text` is not one.
std::vector<PeakRow> parse_peak_table(const std::string& text);

/// The built-in table, in the order of the file.
const std::vector<PeakRow>& peak_table();

/// The row one of whose `match` names is exactly `device_name`; nullptr if there is none.
const PeakRow* find_peak_row(const std::string& device_name);

}  // namespace flopmark
