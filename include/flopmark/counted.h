#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace flopmark {

/// The noun that goes with `count`: `one` for exactly 1, else `many`, or `one` and an s if that is empty.
inline std::string noun_for(int64_t count, std::string_view one, std::string_view many = {}) {
  if (count == 1) return std::string(one);
  return many.empty() ? std::string(one) + "s" : std::string(many);
}

/// "1 step", "0 steps"; "2 launches" of `many` = "launches".
inline std::string counted(int64_t count, std::string_view one, std::string_view many = {}) {
  return std::to_string(count) + " " + noun_for(count, one, many);
}

}  // namespace flopmark
