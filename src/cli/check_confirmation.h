#pragma once

#include "cli/check_command.h"
#include "report/check_report.h"

namespace CLI {
class App;
}

namespace flopmark {

/// Adds --confirm and what it takes; `options` must outlive the parsing.
void add_confirm_options(CLI::App& command, CheckOptions& options);

/// @throws Error 200: --confirm without --build, either's companions without --confirm, or with bad values.
void check_confirm_options(const CheckOptions& options);

/// Where stored records call `result` slower or unsure, and --confirm is given: measures the commit of the
/// record that says so and the checked-out tree (or --worker) side by side. The verdict and the exit code are
/// then those of the pairs. What cannot be built or measured leaves the verdict of the stored records and
/// says why; the exit code is then that of the trouble.
void confirm(CheckResult& result, const std::filesystem::path& config, const CheckOptions& options);

}  // namespace flopmark
