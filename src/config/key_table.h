#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "config/run_config.h"

namespace flopmark {

/// Where a key's value lives in RunConfig; the alternative decides the key's JSON type.
using KeyField = std::variant<int64_t& (*)(RunConfig&), double& (*)(RunConfig&), bool& (*)(RunConfig&),
                              std::string& (*)(RunConfig&), std::optional<double>& (*)(RunConfig&),
                              CheckpointInterval& (*)(RunConfig&), std::vector<InputSpec>& (*)(RunConfig&),
                              std::vector<std::string>& (*)(RunConfig&), OptionsText& (*)(RunConfig&)>;

/// Closed range of a whole number.
struct IntegerRange {
  int64_t min = 0;
  int64_t max = std::numeric_limits<int64_t>::max();
};

/// Range of a number; an infinite end is no limit.
struct NumberRange {
  double min = 0;
  double max = std::numeric_limits<double>::infinity();
  bool above_min = false;  ///< min itself is out
  bool below_max = false;  ///< max itself is out
};

/// What a free string must look like. `pattern` is an anchored ECMAScript regular expression; empty = any
/// text.
struct StringForm {
  std::string pattern{};
  size_t max_length = 4096;
  std::string text{};  ///< in words, for messages and help
};

/// Types a key applies to, by model.type (torchscript, exported, plugin: a model from such a file), data.type
/// (plugin: a data set from one) and train.optimizer.type; an empty list is all of them.
struct KeyScope {
  std::vector<std::string> models{};
  std::vector<std::string> data{};
  std::vector<std::string> optimizers{};
  std::vector<std::string> file_model_data{};  ///< beside `models`: models from a file with these data.type
};

/// One config key: everything that parsing, writing, schema, help and messages need to know of it.
struct KeyRow {
  std::string path{};  ///< dotted
  KeyField field{};
  std::string doc{};
  std::vector<std::string> values{};  ///< strings: the allowed ones; empty = any of `form`
  bool names_of_plugins = false;      ///< where a plug-in is given, any of `form` instead of `values`
  IntegerRange integers{};
  NumberRange numbers{};
  StringForm form{};
  KeyScope scope{};
  std::string default_text{};              ///< in words, where the default is not the fixed one of RunConfig
  std::vector<std::string> other_names{};  ///< what other tools call it; only used to suggest this key
};

/// One object of the config that holds keys.
struct SectionRow {
  std::string path;  ///< dotted
  std::string doc;
};

/// Every key, in help order. Adding a key is adding a row.
const std::vector<KeyRow>& config_keys();

/// Every object below the top level, outer ones first.
const std::vector<SectionRow>& config_sections();

/// nullptr if there is no such key.
const KeyRow* find_key(const std::string& path);

/// Whether `path` is an object of the config; the empty path is the top level.
bool is_section(const std::string& path);

/// "train.optimizer" of "train.optimizer.lr"; empty at the top level.
std::string parent_of(const std::string& path);

/// "lr" of "train.optimizer.lr".
std::string leaf_of(const std::string& path);

}  // namespace flopmark
