#pragma once

#include <cstdint>

#include "flopmark/model_shape.h"

namespace flopmark {

/// What the FLOP conventions need to know of a decoder: counts, all positive. The letters are those of the
/// formulas. Of a mixture of experts N and Nmm are the parameters that a token meets.
struct TransformerShape {
  int64_t layers = 0;             ///< L
  int64_t heads = 0;              ///< H: query heads
  int64_t head_size = 0;          ///< Q
  int64_t hidden_size = 0;        ///< d
  int64_t sequence_length = 0;    ///< T: tokens per sample
  int64_t parameters = 0;         ///< N: all, shared ones once, learned positions included
  int64_t matmul_parameters = 0;  ///< Nmm: used in matmuls, the output layer's included, the embedding's not
  int64_t output_parameters = 0;  ///< vocabulary x d, the output layer's share of Nmm
  int64_t parameters_without_input_embedding = 0;  ///< N itself where the output layer shares the embedding
};

/// What a ModelShape does not hold.
struct TransformerOptions {
  int64_t sequence_length = 0;
  int64_t head_size = 0;   ///< 0: hidden_size / heads
  int64_t parameters = 0;  ///< 0: counted from the shape
};

/// The shape of a llama, gpt2 or mixtral model. @throws Error 200 for another type, sizes that are not
/// positive, or `parameters` no more than the input embedding's; std::overflow_error for counts beyond 64
/// bits.
TransformerShape transformer_shape(const ModelShape& model, const TransformerOptions& options);

}  // namespace flopmark
