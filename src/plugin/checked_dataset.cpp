#include "plugin/checked_dataset.h"

#include <fmt/format.h>

#include <utility>

#include "plugin/option_reader.h"
#include "plugin/plugin_library.h"

namespace flopmark {

CheckedDataset::CheckedDataset(PluginPlace place, std::string type, std::unique_ptr<Dataset> dataset)
    : place_(std::move(place)),
      type_(std::move(type)),
      collate_call_(place_, "collate() of " + type_),
      dataset_(std::move(dataset)) {
  const PluginCall call(place_, "size() or facts() of " + type_);
  call([this] {
    size_ = dataset_->size();
    facts_ = dataset_->facts();
  });
  if (size_ < 1) {
    refuse_plugin(place_, fmt::format("size() of {} is {}, expected at least one sample", type_, size_));
  }
}

void CheckedDataset::check(const Batch& batch, size_t asked) const {
  const std::string name = "collate() of " + type_;
  if (batch.inputs.empty()) refuse_plugin(place_, name + " returned a batch without tensors");
  for (size_t i = 0; i < batch.inputs.size(); ++i) {
    if (batch.inputs[i].defined() && batch.inputs[i].device().is_cpu()) continue;
    refuse_plugin(place_, fmt::format("{} returned inputs[{}] {}, expected a tensor on the host", name, i,
                                      batch.inputs[i].defined() ? "on " + batch.inputs[i].device().str()
                                                                : "undefined"));
  }
  const bool counts = batch.samples >= 1 && batch.samples <= static_cast<int64_t>(asked);
  if (!counts || batch.tokens < 0 || batch.images < 0) {
    refuse_plugin(place_, fmt::format("{} returned a batch of {} samples, {} tokens and {} images for {} "
                                      "indices; set Batch::samples to what it holds, the others to 0 where "
                                      "there are none",
                                      name, batch.samples, batch.tokens, batch.images, asked));
  }
}

Batch CheckedDataset::collate(const std::vector<size_t>& indices) const {
  Batch batch = collate_call_([&] { return dataset_->collate(indices); });
  check(batch, indices.size());
  return batch;
}

std::unique_ptr<Dataset> make_plugin_dataset(const PluginDataRequest& request) {
  const PluginLibrary library({"data.plugin", request.path});
  const OptionReader options(request.options, "data.options");
  return std::make_unique<CheckedDataset>(
      library.place(), request.type,
      library.make_dataset(request.type, options, request.batch_size, request.seed));
}

}  // namespace flopmark
