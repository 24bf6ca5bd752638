#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "launch/launcher_environment.h"

namespace flopmark {

inline constexpr int64_t kMostRanks = std::numeric_limits<int32_t>::max();
inline constexpr size_t kShownVariableBytes = 60;

/// Reads variables and keeps what is wrong with them, so that all of it can be told at once.
class VariableReader {
 public:
  explicit VariableReader(const Variables& variables) : variables_(variables) {}

  /// Absent: not set, or empty.
  std::optional<std::string> text(const std::string& name) const;
  bool has(const std::string& name) const { return text(name).has_value(); }
  /// A whole number in [least, most]; absent if it is not set, or, which is then kept as a fault, is none.
  std::optional<int64_t> number(const std::string& name, int64_t least, int64_t most);
  /// The same of one that must be set.
  std::optional<int64_t> needed_number(const std::string& name, int64_t least, int64_t most);
  void need(const std::string& name);
  void fault(const std::string& text) { faults_.push_back(text); }

  /// @throws Error 200 if anything was wrong; `set` are variables to name as those that are set.
  void refuse_faults(const std::vector<std::string>& set) const;

 private:
  const Variables& variables_;
  std::vector<std::string> faults_, missing_;
};

}  // namespace flopmark
