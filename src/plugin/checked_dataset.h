#pragma once

#include <memory>
#include <string>
#include <vector>

#include "flopmark/dataset.h"
#include "plugin/plugin_call.h"

namespace flopmark {

/// A plug-in's data set that answers for what it does: whatever it throws, or gives back that is no batch,
/// ends the run with a text that names the plug-in.
class CheckedDataset : public Dataset {
 public:
  /// @throws Error 125 if the size is not at least 1; as rethrow_from_plugin().
  CheckedDataset(PluginPlace place, std::string type, std::unique_ptr<Dataset> dataset);
  int64_t size() const override { return size_; }
  /// @throws Error 125 for a batch without tensors, with an undefined one or one that is not on the host, or
  /// that says it has no samples, or more than were asked for; as rethrow_from_plugin().
  Batch collate(const std::vector<size_t>& indices) const override;
  Facts facts() const override { return facts_; }

 private:
  void check(const Batch& batch, size_t asked) const;

  PluginPlace place_;
  std::string type_;
  PluginCall collate_call_;
  std::unique_ptr<Dataset> dataset_;
  int64_t size_ = 0;
  Facts facts_;
};

/// What a config asks of a plug-in's data set.
struct PluginDataRequest {
  std::string path;     ///< of the library
  std::string type;     ///< of the data set in it
  std::string options;  ///< the text of a JSON object
  int64_t batch_size = 1;
  int64_t seed = 0;
};

/// @throws as PluginLibrary and CheckedDataset.
std::unique_ptr<Dataset> make_plugin_dataset(const PluginDataRequest& request);

}  // namespace flopmark
