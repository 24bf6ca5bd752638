#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "config/key_table.h"

namespace flopmark {

/// A value that a config gives, checked for type and range, and where it was given.
struct GivenValue {
  const KeyRow* row = nullptr;
  nlohmann::json value;
  std::string origin;            ///< for messages: "a.json:3" or "--set measure.steps=9"
  std::filesystem::path folder;  ///< what relative paths are relative to
};

/// Given values by dotted key. A later layer's values replace an earlier one's.
using ConfigLayer = std::map<std::string, GivenValue>;

/// Where an object of keys comes from.
struct LayerSource {
  std::string name;                     ///< of the file or the --set argument
  std::map<std::string, size_t> lines;  ///< by dotted key; empty where there are none
  std::filesystem::path folder;
};

/// Adds the keys of `object` to `layer`, replacing what is there. At the top level "$schema" and "extends"
/// are left out. @throws Error 200 for an unknown key, or a value of the wrong type or range.
void add_object(const nlohmann::json& object, const LayerSource& source, ConfigLayer& layer);

/// Reads `file` and all it extends, the farthest first; `name` is not inherited. @throws Error 200 for what
/// cannot be read or parsed, and for a circle of `extends`.
ConfigLayer read_config_files(const std::filesystem::path& file);

/// Adds one `key=value`; relative paths are relative to the current folder. @throws Error 200.
void add_set(const std::string& assignment, ConfigLayer& layer);

}  // namespace flopmark
