#pragma once

#include "cli/run_command.h"

namespace flopmark {

/// `flopmark run --scaling`: measures each config with each number of ranks in turn, writes the records as
/// usual and prints a table of them. @returns ok, cannot_judge after a run that failed (the table has those
/// before it), or interrupted. @throws Error 200 for a list that is not two or more numbers of ranks in
/// ascending order, for more ranks than GPUs where they run on such, and for options that mean one record.
ExitCode run_scaling(const RunOptions& options);

}  // namespace flopmark
