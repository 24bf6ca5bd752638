#pragma once

#include <torch/types.h>
#include <torch/version.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "flopmark/dataset.h"
#include "flopmark/error.h"
#include "flopmark/model.h"

/// Models and data sets of your own, in a shared library that a config names (model.plugin, data.plugin).
///
///     extern "C" const flopmark::Plugin* flopmark_plugin() {
///       static const flopmark::Plugin plugin{.models = {{"my_model", make_my_model}}, .datasets = {}};
///       return &plugin;
///     }
///
/// Ownership: flopmark owns what factories return and deletes it before the process ends; the library stays
/// loaded until then. Threads: factories, loss() and parameters() are called from one thread; collate() from
/// several at once. Exceptions: anything may throw anything; it ends the run with its text. An Error made by
/// usage_error() says that the config is wrong (exit code 200), every other exception that this run cannot
/// be judged (125). An exception that leaves a thread of the library's own, a destructor or a static
/// initialiser ends the process, which is told as a crash.
namespace flopmark {

/// Raised with every change after which a plug-in must be built again.
inline constexpr int32_t kPluginSdk = 1;

/// The options that a config gives to a model or data set, read by name. What is given and never asked for
/// is refused when the factory returns, so ask for all of them there. Every getter throws an Error 200, with
/// the option's place in the config, for a value of another type or out of range. For one thread.
class PluginOptions {
 public:
  virtual ~PluginOptions() = default;
  virtual bool has(const std::string& name) const = 0;
  /// A whole number in [min, max]; `fallback` if it is not given.
  virtual int64_t integer(const std::string& name, int64_t fallback, int64_t min = 0,
                          int64_t max = std::numeric_limits<int64_t>::max()) const = 0;
  /// A finite number in [min, max].
  virtual double number(const std::string& name, double fallback,
                        double min = std::numeric_limits<double>::lowest(),
                        double max = std::numeric_limits<double>::max()) const = 0;
  virtual bool flag(const std::string& name, bool fallback) const = 0;
  /// Any text; with `allowed`, one of these.
  virtual std::string text(const std::string& name, const std::string& fallback,
                           const std::vector<std::string>& allowed = {}) const = 0;
  /// A whole option, or with an empty name all of them, as JSON: for what the others cannot say. "null" if it
  /// is not given. Whoever takes it checks it, all names in it included.
  virtual std::string json(const std::string& name = "") const = 0;
};

/// What a model's factory is asked for.
struct ModelRequest {
  const PluginOptions& options;  ///< model.options; not to be kept
  torch::TensorOptions tensor;   ///< device and type of every trainable parameter
  int64_t seed = 0;              ///< train.seed; LibTorch's generators are seeded with it already
};

/// What a data set's factory is asked for. Batches are made on the host, whatever the device.
struct DatasetRequest {
  const PluginOptions& options;  ///< data.options; not to be kept
  int64_t batch_size = 1;  ///< data.batch_size: samples per collate(), the last of an epoch may have less
  int64_t seed = 0;        ///< data.seed
};

/// `name` is what a config calls it (model.type): 1 to 64 characters out of A-Z a-z 0-9 _ . -
struct PluginModel {
  std::string name;
  std::unique_ptr<TrainableModel> (*make)(const ModelRequest&) = nullptr;
};

/// `name` is what a config calls it (data.type).
struct PluginDataset {
  std::string name;
  std::unique_ptr<Dataset> (*make)(const DatasetRequest&) = nullptr;
};

/// What the plug-in was compiled with. Of plain types, first in Plugin, and the same in every version of the
/// SDK: it is read before anything else. Leave it as it is made.
struct PluginBuild {
  int32_t sdk = kPluginSdk;
  int32_t cxx11_abi = _GLIBCXX_USE_CXX11_ABI;
  const char* libtorch = TORCH_VERSION;
};

/// What a plug-in holds. Names are unique among the models and among the data sets.
struct Plugin {
  PluginBuild build = {};
  std::vector<PluginModel> models = {};
  std::vector<PluginDataset> datasets = {};
};

}  // namespace flopmark

/// The one function that a plug-in exports. Called once for each config key that names the library; what it
/// points to must live until the process ends.
extern "C" __attribute__((visibility("default"))) const flopmark::Plugin* flopmark_plugin();
