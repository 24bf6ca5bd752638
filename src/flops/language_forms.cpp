#include "flops/language_forms.h"

#include <vector>

#include "flops/checked_math.h"

namespace flopmark {
namespace {

/// The linear layer of the head, and the one to the vocabulary.
int64_t bert_head_matrices(const ModelShape& shape) {
  return checked_multiply(shape.hidden_size, checked_add(shape.hidden_size, shape.vocab_size));
}

/// Of a layer's input, or of its state before: four gates.
int64_t lstm_matrix(const ModelShape& shape) {
  return checked_product({4, shape.hidden_size, shape.hidden_size});
}

}  // namespace

/// Besides the matrices: positions and two token types; LayerNorms after the embedding, twice a block and in
/// the head; a bias for every linear layer.
int64_t bert_parameters(const ModelShape& shape) {
  const int64_t d = shape.hidden_size;
  const int64_t embedding = shape.tied_embeddings ? 0 : checked_multiply(shape.vocab_size, d);
  const int64_t tables = checked_multiply(checked_add(shape.max_sequence_length, 2), d);
  const int64_t block = checked_sum({encoder_block_matrices(shape), checked_multiply(9, d), shape.ffn_size});
  const int64_t head = checked_sum({bert_head_matrices(shape), checked_multiply(3, d), shape.vocab_size});
  return checked_sum(
      {embedding, tables, checked_multiply(2, d), checked_multiply(shape.layers, block), head});
}

/// Backward is twice the forward: the first product's input comes from an embedding that learns.
StepFlop bert_flop(const ModelShape& shape, int64_t batch_size, int64_t sequence_length) {
  const int64_t tokens = checked_multiply(batch_size, sequence_length);
  const int64_t scores = checked_product({2, tokens, sequence_length, shape.hidden_size});
  const int64_t block =
      checked_sum({checked_product({2, tokens, encoder_block_matrices(shape)}), scores, scores});
  const int64_t head = checked_product({2, tokens, bert_head_matrices(shape)});
  const int64_t forward = checked_add(checked_multiply(shape.layers, block), head);
  return {forward, checked_multiply(2, forward), checked_multiply(shape.layers, scores),
          std::vector<int64_t>(static_cast<size_t>(shape.layers), block)};
}

/// Besides the matrices: two biases for each gate, and one in the head.
int64_t lstm_parameters(const ModelShape& shape) {
  const int64_t h = shape.hidden_size;
  const int64_t table = checked_multiply(shape.vocab_size, h);
  const int64_t layer = checked_add(checked_product({2, lstm_matrix(shape)}), checked_multiply(8, h));
  return checked_sum(
      {shape.tied_embeddings ? 0 : table, table, shape.vocab_size, checked_multiply(shape.layers, layer)});
}

/// Backward is twice the forward but for the gradient of the initial state, which is no parameter: the
/// recurrent matrix passes on one position per sequence less.
StepFlop lstm_flop(const ModelShape& shape, int64_t batch_size, int64_t sequence_length) {
  const int64_t tokens = checked_multiply(batch_size, sequence_length);
  const int64_t layers = checked_product({2, tokens, shape.layers, 2, lstm_matrix(shape)});
  const int64_t head = checked_product({2, tokens, shape.vocab_size, shape.hidden_size});
  const int64_t forward = checked_add(layers, head);
  const int64_t first = checked_product({2, batch_size, shape.layers, lstm_matrix(shape)});
  return {forward, checked_multiply(2, forward) - first};
}

}  // namespace flopmark
