#include "launch/slurm_lists.h"

#include <charconv>

namespace flopmark {

std::string first_slurm_host(const std::string& node_list) {
  std::string host;
  for (size_t i = 0; i < node_list.size() && node_list[i] != ','; ++i) {
    if (node_list[i] != '[') {
      host += node_list[i];
      continue;
    }
    const size_t end = node_list.find(']', i);
    if (end == std::string::npos) return "";
    const std::string range = node_list.substr(i + 1, end - i - 1);
    host += range.substr(0, range.find_first_of("-,"));
    i = end;
  }
  return host;
}

std::optional<int64_t> slurm_tasks_on(const std::string& tasks_per_node, int64_t node) {
  const char* at = tasks_per_node.data();
  const char* const end = at + tasks_per_node.size();
  while (at < end) {
    int64_t tasks = 0, nodes = 1;
    auto read = std::from_chars(at, end, tasks);
    if (read.ec != std::errc() || tasks < 1) return std::nullopt;
    at = read.ptr;
    if (at < end && *at == '(') {
      if (end - at < 2 || at[1] != 'x') return std::nullopt;
      read = std::from_chars(at + 2, end, nodes);
      if (read.ec != std::errc() || nodes < 1 || read.ptr == end || *read.ptr != ')') return std::nullopt;
      at = read.ptr + 1;
    }
    if (node < nodes) return tasks;
    node -= nodes;
    if (at < end && *at++ != ',') return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace flopmark
