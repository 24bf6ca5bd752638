#pragma once

#include <string>
#include <vector>

namespace flopmark {

/// Number of insertions, deletions, substitutions and swaps of neighbours that turn `a` into `b`
/// (optimal string alignment). Time and memory grow with the product of the lengths.
size_t edit_distance(const std::string& a, const std::string& b);

/// The known keys (dotted) whose names are nearest to an unknown `name` found in section `parent`, at most
/// three, all equally near; a key of the same section is nearer than the same name elsewhere. Empty if none
/// is near.
std::vector<std::string> nearest_keys(const std::string& parent, const std::string& name);

/// What to say after "unknown key ...": the nearest keys, else the names known in `parent`.
std::string unknown_key_advice(const std::string& parent, const std::string& name);

}  // namespace flopmark
