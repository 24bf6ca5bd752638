#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compare/decision.h"
#include "compare/pair_conditions.h"

namespace flopmark::benchmarks {

/// One measured pair of a pool, as kept on file.
struct PoolRow {
  std::string time;                      ///< when it began: UTC to the millisecond, ISO 8601
  std::string machine;                   ///< the store's name for the hardware
  std::string commit;                    ///< of the build, 40 hex digits
  std::string config;                    ///< calibration_key of side a
  uint64_t seed = 0;                     ///< of the order of the turns
  int64_t threads = 0;                   ///< of LibTorch's operators; 0: all usable cores
  double injected_ratio = 0;             ///< more work of side b, by the number of micro-batches
  int64_t flop_a = 0, flop_b = 0;        ///< of one step, as counted
  double load_before = 0;                ///< load average of the last minute before the pair
  PairConditions conditions;             ///< of the pair
  std::optional<std::string> disturbed;  ///< the cause set beforehand that held, in words
  bool a_first = true;
  int64_t turns = 0;  ///< of each side
  PairRatios ratios;
  std::array<double, kSummaries.size()> a_s{}, b_s{};  ///< step time by each summary, seconds
  std::vector<int64_t> a_us, b_us;                     ///< every timed step, whole microseconds
};

/// One line of JSON with its newline; keys in the order above, ratios and times with 6 significant digits.
std::string pool_line(const PoolRow& row);

/// Reads a line without its newline. @throws std::exception saying what is wrong with it.
PoolRow parse_pool_line(std::string_view line);

/// All rows on file, in its order; none if there is no such file. A last line without newline is a row that
/// was being written when the program died: it is left out. @throws std::runtime_error naming file and line
/// of any other bad line.
std::vector<PoolRow> read_pool(const std::filesystem::path& path);

/// Adds rows at the end of a file, one write each; what a torn last line left is cut off first.
class PoolWriter {
 public:
  /// @throws std::runtime_error if it cannot be opened.
  explicit PoolWriter(const std::filesystem::path& path);
  ~PoolWriter();
  PoolWriter(const PoolWriter&) = delete;
  PoolWriter& operator=(const PoolWriter&) = delete;
  /// @throws std::runtime_error if it cannot be written.
  void add(const PoolRow& row);

 private:
  int fd_;
};

}  // namespace flopmark::benchmarks
