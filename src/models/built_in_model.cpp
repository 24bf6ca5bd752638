#include "models/built_in_model.h"

#include <ATen/ops/cross_entropy_loss.h>

namespace flopmark {

torch::Tensor BuiltInModel::loss(const Batch& batch) {
  const auto scores = logits(batch.inputs.at(0));
  return at::cross_entropy_loss(scores.view({-1, scores.size(-1)}).to(torch::kFloat),
                                batch.inputs.at(1).reshape(-1));
}

torch::Tensor BuiltInModel::run_checkpointed(const BlockPlace& place, const torch::Tensor& x,
                                             BlockFunction forward) {
  const auto in_place = [&place, run = std::move(forward)](const torch::Tensor& input) {
    const ModuleScope scope(place.path);
    return run(input);
  };
  return checkpoint(in_place, x, {place.parameters, place.random});
}

std::vector<torch::Tensor> BuiltInModel::parameters() {
  std::vector<torch::Tensor> values;
  values.reserve(parameters_.all().size());
  for (const auto& parameter : parameters_.all()) {
    values.push_back(parameter.value);
  }
  return values;
}

}  // namespace flopmark
