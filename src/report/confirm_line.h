#pragma once

#include <string>
#include <vector>

#include "flopmark/record.h"

namespace flopmark {

/// The command that settles a verdict on stored records: `flopmark ab` on `config` with its --set values,
/// between the build of `reference`'s commit and the tree as it is. Only the build command is left to fill
/// in.
std::string confirm_line(const std::string& config, const std::vector<std::string>& sets,
                         const RunRecord& reference);

}  // namespace flopmark
