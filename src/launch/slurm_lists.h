#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace flopmark {

/// The first host of a Slurm node list, such as "n04" of "n[04-07,9],x1"; empty if there is none.
std::string first_slurm_host(const std::string& node_list);

/// How many tasks run on node `node` (from 0) of a step, from a list such as "2(x3),1"; absent if that is no
/// such list, or too short.
std::optional<int64_t> slurm_tasks_on(const std::string& tasks_per_node, int64_t node);

}  // namespace flopmark
