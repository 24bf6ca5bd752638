#include "launch/launcher_variables.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "flopmark/error.h"
#include "launch/printable_text.h"

namespace flopmark {
namespace {

constexpr const char* kLauncherAdvice =
    "start every rank with torchrun --no-python, mpirun or srun, or set RANK, WORLD_SIZE, MASTER_ADDR and "
    "MASTER_PORT for each; for a job of this machine alone unset them all, and parallel.ranks says how many "
    "ranks it has";

std::optional<int64_t> whole_number(const std::string& text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole ? std::optional(value) : std::nullopt;
}

}  // namespace

std::optional<std::string> VariableReader::text(const std::string& name) const {
  const auto found = variables_.find(name);
  if (found == variables_.end() || found->second.empty()) return std::nullopt;
  return found->second;
}

std::optional<int64_t> VariableReader::number(const std::string& name, int64_t least, int64_t most) {
  const auto given = text(name);
  if (!given) return std::nullopt;
  const auto value = whole_number(*given);
  if (value && *value >= least && *value <= most) return value;
  fault(fmt::format("{}={} is no whole number from {} to {}", name,
                    printable_text(*given, kShownVariableBytes), least, most));
  return std::nullopt;
}

std::optional<int64_t> VariableReader::needed_number(const std::string& name, int64_t least, int64_t most) {
  need(name);
  return number(name, least, most);
}

void VariableReader::need(const std::string& name) {
  const bool known = std::find(missing_.begin(), missing_.end(), name) != missing_.end();
  if (!has(name) && !known) missing_.push_back(name);
}

void VariableReader::refuse_faults(const std::vector<std::string>& set) const {
  std::vector<std::string> parts = faults_;
  if (!missing_.empty()) {
    std::vector<std::string> present;
    std::copy_if(set.begin(), set.end(), std::back_inserter(present),
                 [this](const std::string& name) { return has(name); });
    parts.insert(parts.begin(),
                 fmt::format("not set: {} (set: {})", fmt::join(missing_, ", "), fmt::join(present, ", ")));
  }
  if (parts.empty()) return;
  throw usage_error(fmt::format("the variables that a launcher sets are not right: {}; {}",
                                fmt::join(parts, "; "), kLauncherAdvice));
}

}  // namespace flopmark
