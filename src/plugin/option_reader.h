#pragma once

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "flopmark/plugin.h"

namespace flopmark {

/// The options of a config for a plug-in, which remembers what was asked for.
class OptionReader : public PluginOptions {
 public:
  /// `object`: the text of a JSON object. `key`: its place in the config: model.options, data.options.
  OptionReader(const std::string& object, std::string key);

  bool has(const std::string& name) const override;
  int64_t integer(const std::string& name, int64_t fallback, int64_t min, int64_t max) const override;
  double number(const std::string& name, double fallback, double min, double max) const override;
  bool flag(const std::string& name, bool fallback) const override;
  std::string text(const std::string& name, const std::string& fallback,
                   const std::vector<std::string>& allowed) const override;
  std::string json(const std::string& name) const override;

  /// @throws Error 200 for an option that nobody asked for, with the names that were.
  void check_all_asked() const;

 private:
  const nlohmann::json* find(const std::string& name) const;
  [[noreturn]] void refuse(const std::string& name, const std::string& expected) const;

  nlohmann::json options_;
  std::string key_;
  mutable std::set<std::string> asked_;
  mutable bool all_asked_ = false;
};

}  // namespace flopmark
