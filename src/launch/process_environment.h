#pragma once

#include <string>
#include <utility>
#include <vector>

namespace flopmark {

/// This process's environment with the variables `set` changed or added and those of `unset` left out, as
/// NAME=VALUE, sorted by name; the later of two equal names in `set` counts.
std::vector<std::string> process_environment(const std::vector<std::pair<std::string, std::string>>& set,
                                             const std::vector<std::string>& unset = {});

/// What execve takes: pointers to `texts`, which must outlive them, and a null. It changes none of them.
std::vector<char*> exec_pointers(const std::vector<std::string>& texts);

}  // namespace flopmark
