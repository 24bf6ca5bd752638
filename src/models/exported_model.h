#pragma once

#include <ATen/core/ivalue.h>

#include <string>
#include <utility>
#include <vector>

#include "flopmark/model.h"
#include "models/exported_loading.h"
#include "models/models.h"
#include "models/saved_types.h"

namespace flopmark {

/// A model from a file of torch.export.save, in the mode it was exported in. Its graph runs operator by
/// operator, so that autograd records it. Without `shape.loss`, forward gets all inputs of a batch and its
/// first result is the scalar loss; with it, forward gets all but the last, and the loss is that of its first
/// result and the last. Parameters, buffers and inputs of float32 are cast to the type of `options.tensor`;
/// other types stay as exported. Buffers that the graph changes are kept: those that it
/// returns are written at the beginning of the next forward, since backward may still need the old ones.
class ExportedModel : public TrainableModel {
 public:
  /// @throws Error 125, in one line, if there is no such file, it is of another kind, broken or of another
  /// version, or uses an operator that is not here or refused; as check_trainable_type(); 200 if nothing is
  /// to be trained, or forward does not take `options.inputs` tensors.
  ExportedModel(const ModelShape& shape, const ModelOptions& options);
  /// @throws Error 200 if the batch is not what was exported, forward returns something else than is said
  /// above, or its parameters are of several types and the cast of some is what it fails of.
  torch::Tensor loss(const Batch& batch) override;
  /// Those that require a gradient; each once, however many names it has.
  std::vector<torch::Tensor> parameters() override { return parameters_; }

 private:
  void check_count(int64_t inputs) const;
  void collect_parameters();
  void write_mutations();
  void run_graph();
  void set_inputs(const Batch& batch);
  c10::IValue take(int slot);

  std::string path_, place_, loss_;
  torch::Dtype dtype_;
  LoadedExport loaded_;
  SavedTypes types_;
  std::vector<c10::IValue> values_;                ///< of every slot; between forwards only the stored ones
  std::vector<std::pair<int, at::Tensor>> later_;  ///< slots of buffers and their next values
  std::vector<torch::Tensor> parameters_;
};

}  // namespace flopmark
