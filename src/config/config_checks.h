#pragma once

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "config/config_layer.h"
#include "flopmark/error.h"

namespace flopmark {

/// What the cross-checks need: the config, and where its values came from.
struct Checked {
  const RunConfig& config;
  const ConfigLayer& layer;
  const std::string& where;

  /// Throws with the place of the first of `keys` that was given, else of the config as a whole.
  template <typename... Args>
  [[noreturn]] void fail(const std::vector<const char*>& keys, fmt::format_string<Args...> text,
                         Args&&... args) const {
    std::string place = where;
    for (auto key = keys.rbegin(); key != keys.rend(); ++key) {
      const auto given = layer.find(*key);
      if (given != layer.end()) place = given->second.origin;
    }
    throw usage_error(place + ": " + fmt::format(text, std::forward<Args>(args)...));
  }
};

/// Whether the data are files of pictures: images, cifar10.
bool holds_pictures(const DataConfig& data);

/// Whether the model is made by a file and not by us: torchscript, exported, plugin.
bool is_from_file(const ModelShape& model);

/// @throws Error 200 for a key that does not apply to the types chosen, and for values that contradict each
/// other.
void check_values(const Checked& checked);

}  // namespace flopmark
