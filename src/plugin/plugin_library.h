#pragma once

#include <memory>
#include <string>

#include "flopmark/plugin.h"
#include "plugin/option_reader.h"
#include "plugin/plugin_call.h"

namespace flopmark {

/// A plug-in, loaded and checked. It is never unloaded: what it made or threw may outlive everything.
class PluginLibrary {
 public:
  /// @throws Error 125, naming file and cause, for what is missing, is no shared library, lacks a symbol or
  /// the entry point, was built with another SDK, LibTorch or C++ ABI, or throws; as the entry point does.
  explicit PluginLibrary(PluginPlace place);

  /// What the factory called `type` makes, with every option asked for.
  /// @throws Error 200 for a type that is not there, with those that are, and for options that are refused;
  /// 125 for a factory that is missing or makes nothing; as rethrow_from_plugin().
  std::unique_ptr<TrainableModel> make_model(const std::string& type, const OptionReader& options,
                                             const torch::TensorOptions& tensor, int64_t seed) const;
  std::unique_ptr<Dataset> make_dataset(const std::string& type, const OptionReader& options,
                                        int64_t batch_size, int64_t seed) const;

  const PluginPlace& place() const { return place_; }

 private:
  PluginPlace place_;
  const Plugin* plugin_ = nullptr;
};

}  // namespace flopmark
