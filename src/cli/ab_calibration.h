#pragma once

#include <filesystem>

#include "compare/paired_comparison.h"

namespace flopmark {

/// `rule` with the tolerances of the calibration on file for side a's config on this hardware; as it is where
/// there is none, or one of fewer than 20 pairs. `store` is --store. The worker is asked for its device only
/// where there is a file of that name.
/// @throws Error 202 if the calibration cannot be read, 200 if the worker cannot be asked.
JudgeRule calibrated_by_store(const JudgeRule& rule, const PairedSide& a, const std::filesystem::path& store);

}  // namespace flopmark
