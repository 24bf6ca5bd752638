#pragma once

#include <vector>

#include "cli/run_command.h"
#include "config/run_config.h"

namespace flopmark {

/// @throws Error 200 if --output cannot be where the one record goes.
void check_output(const RunOptions& options);

/// @throws Error 200 for options that contradict each other, or that have no use together.
void check_options(const RunOptions& options);

/// Whether `config` can mean nothing but the CPU: it says so, or there is no NVIDIA driver.
bool trains_on_cpu(const RunConfig& config);

/// Whatever is sure to be refused after hours of measuring is refused before. @throws Error 200 for a store
/// that cannot be, 202 if a record or baseline could not be written, or saving would be refused.
void check_results(const std::vector<RunConfig>& configs, const RunOptions& options);

}  // namespace flopmark
