#include "models/exported_model.h"

#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include "flopmark/error.h"
#include "models/model_loss.h"

namespace flopmark {

namespace {

/// A model exported in another type stays in it: its graph holds casts to that.
void cast_float32(const torch::Tensor& tensor, torch::Dtype dtype) {
  if (tensor.scalar_type() == torch::kFloat) cast_floating(tensor, dtype);
}

}  // namespace

ExportedModel::ExportedModel(const ModelShape& shape, const ModelOptions& options)
    : path_(shape.exported),
      place_("model.exported " + path_),
      loss_(shape.loss),
      dtype_(c10::typeMetaToScalarType(options.tensor.dtype())),
      loaded_(load_export(shape.exported, options.tensor.device())),
      values_(std::move(loaded_.stored)) {
  values_.resize(static_cast<size_t>(loaded_.program.slots));
  check_count(options.inputs - (loss_.empty() ? 0 : 1));
  collect_parameters();
}

void ExportedModel::check_count(int64_t inputs) const {
  const std::vector<ExportedInput>& all = loaded_.inputs.all();
  if (inputs == std::ssize(all)) return;
  std::string names;
  for (const ExportedInput& input : all) names += (names.empty() ? "" : ", ") + input.name;
  throw usage_error(fmt::format(
      "data.inputs: {} of them go to forward{}, but that of {} takes {} ({}); give one entry per "
      "argument",
      inputs, loss_.empty() ? "" : " (the last is the target of model.loss)", path_, all.size(), names));
}

/// Casts, and keeps what is to be trained.
void ExportedModel::collect_parameters() {
  const c10::AutoGradMode no_grad(false);
  for (const torch::Tensor& buffer : loaded_.buffers) {
    types_.add(buffer);
    cast_float32(buffer, dtype_);
  }
  for (const torch::Tensor& parameter : loaded_.parameters) {
    types_.add(parameter);
    cast_float32(parameter, dtype_);
    if (!parameter.requires_grad()) continue;
    check_trainable_type(parameter, place_);
    parameters_.push_back(parameter);
  }
  if (parameters_.empty()) {
    throw usage_error(fmt::format(
        "{}: none of its {} parameters requires a gradient, so there is nothing to train; export it "
        "unfrozen, with requires_grad",
        place_, loaded_.parameters.size()));
  }
}

void ExportedModel::write_mutations() {
  const c10::AutoGradMode no_grad(false);
  for (const auto& [slot, value] : later_) values_[static_cast<size_t>(slot)].toTensor().copy_(value);
  later_.clear();
}

void ExportedModel::set_inputs(const Batch& batch) {
  loaded_.inputs.check(batch.inputs, path_);
  for (size_t i = 0; i < loaded_.input_slots.size(); ++i) {
    const torch::Tensor& input = batch.inputs[i];
    values_[static_cast<size_t>(loaded_.input_slots[i])] =
        input.scalar_type() == torch::kFloat ? input.to(dtype_) : input;
  }
}

/// A result, which nothing else holds from then on; a stored value stays.
c10::IValue ExportedModel::take(int slot) {
  c10::IValue& value = values_[static_cast<size_t>(slot)];
  const bool stored = slot < loaded_.first_mortal;
  return stored ? value : std::exchange(value, c10::IValue());
}

/// Says what fails where only some of the parameters were cast.
void ExportedModel::run_graph() try { loaded_.program.run(values_); } catch (const std::exception& error) {
  const bool some_were_cast = types_.mixed() && dtype_ != torch::kFloat;
  const std::string complaint = some_were_cast ? type_complaint(error) : "";
  if (complaint.empty()) throw;
  throw usage_error(fmt::format(
      "{}: its parameters were exported as {}, its graph casts between these, and train.precision made the "
      "Float ones {}: {}; use train.precision fp32 or bf16-mixed, which leave them as they are",
      place_, types_.text(), c10::toString(dtype_), complaint));
}

torch::Tensor ExportedModel::loss(const Batch& batch) {
  write_mutations();
  set_inputs(batch);
  run_graph();
  for (const auto& [buffer, next] : loaded_.mutations) {
    later_.emplace_back(buffer, values_[static_cast<size_t>(next)].toTensor().detach());
  }
  const c10::IValue output = loaded_.loss_slot < 0 ? c10::IValue() : take(loaded_.loss_slot);
  for (const auto& [buffer, next] : loaded_.mutations) take(next);
  return loss_of(output, loss_, batch, place_);
}

}  // namespace flopmark
