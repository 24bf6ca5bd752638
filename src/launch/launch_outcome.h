#pragma once

#include <filesystem>

#include "launch/launch.h"
#include "launch/worker_watch.h"

namespace flopmark {

/// The outcome of a launch from how its worker ended and the sample file it left or not. An interruption (or
/// a dismissal, which is one with signal 0) outweighs everything else; then a program that is no worker of
/// this build, then what the worker itself reported, then how it ended.
/// @throws Error 200 for a program that is no worker of this build; the worker's own Error.
LaunchOutcome judge_end(const WorkerEnd& end, const LaunchRequest& request,
                        const std::filesystem::path& samples);

/// `text` and what the worker wrote last.
std::string with_log(std::string text, const WorkerEnd& end);

}  // namespace flopmark
