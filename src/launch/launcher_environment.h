#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "config/rank_place.h"

namespace flopmark {

using Variables = std::map<std::string, std::string>;

/// The place that a launcher gave this process, from its variables: those of torchrun or of one's own script
/// (RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT, and LOCAL_RANK with LOCAL_WORLD_SIZE where it is known), else
/// of Open MPI's mpirun, MPICH's mpiexec or a step of srun with several tasks. An empty variable counts as
/// not set. What the latter three do not say: MASTER_ADDR is this host where all ranks are on it, and the
/// first host of a step of srun; MASTER_PORT follows from the job's number. Absent: no launcher. A job of one
/// rank has a place, too. `meeting` is left to the caller.
/// @throws Error 200, one message for everything that is missing, makes no sense or contradicts itself.
std::optional<RankPlace> launcher_place(const Variables& variables);

/// The same from this process's environment.
std::optional<RankPlace> launcher_place();

/// The first host of a Slurm node list, such as "n04" of "n[04-07,9],x1"; empty if there is none.
std::string first_slurm_host(const std::string& node_list);

/// How many tasks run on node `node` (from 0) of a step, from a list such as "2(x3),1"; absent if that is no
/// such list, or too short.
std::optional<int64_t> slurm_tasks_on(const std::string& tasks_per_node, int64_t node);

}  // namespace flopmark
