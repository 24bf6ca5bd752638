#include "worker/meta_count.h"

#include <ATen/ops/empty.h>

#include "flops/observe/meta_kernels.h"
#include "models/models.h"
#include "train/torch_step.h"
#include "worker/job.h"

namespace flopmark {
namespace {

/// A micro-batch without values.
Batch meta_batch(const RunConfig& config) {
  const DataConfig& data = config.data;
  const auto integers = torch::TensorOptions(torch::kMeta).dtype(torch::kLong);
  Batch batch;
  batch.samples = data.batch_size;
  if (input_kind(config.model) == InputKind::tokens) {
    for (int i = 0; i < 2; ++i) {
      batch.inputs.push_back(at::empty({data.batch_size, data.sequence_length}, integers));
    }
  } else {
    batch.inputs.push_back(
        at::empty({data.batch_size, data.image_channels, data.image_size, data.image_size}, torch::kMeta));
    batch.inputs.push_back(at::empty({data.batch_size}, integers));
  }
  return batch;
}

/// Autocast does nothing on meta: parameters in the type of the products make the same products.
torch::Dtype product_dtype(const std::string& precision) {
  const AutocastOptions autocast = autocast_options(precision, torch::kMeta);
  return autocast.enabled ? autocast.dtype : parameter_dtype(precision);
}

}  // namespace

MetaCount count_on_meta(const RunConfig& config) {
  add_meta_kernels();
  set_meta_attention(config.train.attention_kernel != "unfused");
  const auto tensor = torch::TensorOptions(torch::kMeta).dtype(product_dtype(config.train.precision));
  const auto model = make_model(
      config.model, {.tensor = tensor, .checkpoint_interval = config.train.activation_checkpointing.blocks});
  MetaCount count;
  for (const auto& parameter : model->parameters()) count.parameters += parameter.numel();

  FlopObserver observer(counting_options(config));
  const auto loss = model->loss(meta_batch(config));
  observer.enter(FlopObserver::Part::backward);
  loss.backward();
  count.flops = repeated(observer.totals(), config.train.gradient_accumulation);
  return count;
}

}  // namespace flopmark
