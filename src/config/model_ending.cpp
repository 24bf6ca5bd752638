#include "config/model_ending.h"

#include <algorithm>

namespace flopmark {

std::string model_ending(const std::filesystem::path& file) {
  std::string ending = file.extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return ending;
}

}  // namespace flopmark
