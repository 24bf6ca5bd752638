#pragma once

#include "worker/job.h"

namespace flopmark {

/// flopmark-worker: reads its command line, and answers it or runs one session whose model `maker` makes.
/// @returns the exit code of run_session; 200 for a command line that it does not know.
int run_worker_program(int argc, const char* const* argv, const ModelMaker& maker);

}  // namespace flopmark
