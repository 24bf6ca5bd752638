#include "flops/module_totals.h"

#include <string>
#include <unordered_map>

#include "flops/checked_math.h"

namespace flopmark {
namespace {

/// The first `depth` parts of a path.
std::string cut_path(const std::string& path, size_t depth) {
  size_t end = 0;
  for (; depth > 0 && end < path.size(); --depth) {
    end = path.find('.', end == 0 ? 0 : end + 1);
    if (end == std::string::npos) return path;
  }
  return path.substr(0, end);
}

void add_row(ModuleFlops& sum, const ModuleFlops& row) {
  sum.forward_flop = checked_add(sum.forward_flop, row.forward_flop);
  sum.backward_flop = checked_add(sum.backward_flop, row.backward_flop);
  sum.backward_hardware_flop = checked_add(sum.backward_hardware_flop, row.backward_hardware_flop);
  sum.recompute_flop = checked_add(sum.recompute_flop, row.recompute_flop);
}

}  // namespace

std::vector<ModuleFlops> modules_at_depth(const std::vector<ModuleFlops>& modules, size_t depth) {
  std::vector<ModuleFlops> sums;
  std::unordered_map<std::string, size_t> places;
  for (const ModuleFlops& row : modules) {
    const std::string path = cut_path(row.path, depth);
    const auto [place, is_new] = places.emplace(path, sums.size());
    if (is_new) sums.push_back({.path = path});
    add_row(sums[place->second], row);
  }
  return sums;
}

}  // namespace flopmark
