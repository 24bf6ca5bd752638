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
/// first host of a step of srun; MASTER_PORT follows from the job's number. Absent: no launcher, as in an
/// allocation of Slurm outside of its steps. A job of one
/// rank has a place, too. `meeting` is left to the caller.
/// @throws Error 200, one message for everything that is missing, makes no sense or contradicts itself.
std::optional<RankPlace> launcher_place(const Variables& variables);

/// What to tell the user of a process that has no place, where it could have had one: in an allocation of
/// several Slurm tasks that srun did not start it in. Absent: nothing.
std::optional<std::string> lone_process_note(const Variables& variables);

/// This process's environment.
Variables own_variables();

}  // namespace flopmark
