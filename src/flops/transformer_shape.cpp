#include "flops/transformer_shape.h"

#include <fmt/format.h>

#include "flopmark/error.h"
#include "flops/checked_math.h"
#include "flops/closed_form.h"

namespace flopmark {
namespace {

/// Parameters that heads of another size than hidden_size / heads add (or take away).
struct HeadSizeChange {
  int64_t matrices = 0;
  int64_t biases = 0;  ///< gpt2: of query, key and value
};

HeadSizeChange change_of(const ModelShape& model, int64_t head_size) {
  const bool has_biases = model.type == "gpt2";
  const int64_t key_heads = has_biases ? model.heads : model.kv_heads;
  const int64_t wide =
      checked_product({2, model.hidden_size, checked_add(model.heads, key_heads), head_size});
  const int64_t per_block = checked_add(wide, -count_attention_parameters(model));
  const int64_t wider = checked_add(checked_multiply(model.heads, head_size), -model.hidden_size);
  return {checked_multiply(model.layers, per_block),
          has_biases ? checked_product({3, model.layers, wider}) : 0};
}

void check_positive(const char* what, int64_t value) {
  if (value <= 0) throw usage_error(fmt::format("{}: {}; give a positive number", what, value));
}

void check_sizes(const ModelShape& model, const TransformerOptions& options) {
  check_positive("model.layers", model.layers);
  check_positive("model.heads", model.heads);
  check_positive("model.hidden_size", model.hidden_size);
  check_positive("model.vocab_size", model.vocab_size);
  check_positive("sequence length", options.sequence_length);
}

}  // namespace

TransformerShape transformer_shape(const ModelShape& model, const TransformerOptions& options) {
  const int64_t matrices = count_matmul_parameters(model);
  check_sizes(model, options);
  TransformerShape shape;
  shape.layers = model.layers;
  shape.heads = model.heads;
  shape.hidden_size = model.hidden_size;
  shape.sequence_length = options.sequence_length;
  shape.head_size = options.head_size > 0 ? options.head_size : model.hidden_size / model.heads;
  shape.output_parameters = checked_multiply(model.vocab_size, model.hidden_size);
  const HeadSizeChange change =
      options.head_size > 0 ? change_of(model, options.head_size) : HeadSizeChange{};
  shape.matmul_parameters = checked_add(matrices, change.matrices);
  shape.parameters =
      options.parameters > 0
          ? options.parameters
          : checked_add(checked_add(count_active_parameters(model), change.matrices), change.biases);
  shape.parameters_without_input_embedding =
      shape.parameters - (model.tied_embeddings ? 0 : shape.output_parameters);
  if (shape.parameters_without_input_embedding <= 0) {
    throw usage_error(
        fmt::format("{} parameters are no more than the {} of the input embedding alone; give "
                    "all of the model's",
                    shape.parameters, shape.output_parameters));
  }
  return shape;
}

}  // namespace flopmark
