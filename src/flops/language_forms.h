#pragma once

#include <cstdint>

#include "flopmark/model_shape.h"
#include "flops/image_forms.h"

namespace flopmark {

/// Closed forms of the models that read tokens and are no decoders with attention, used by closed_form.cpp.
/// Devlin et al. 2018, arXiv:1810.04805, with the parameters of Hugging Face's BertForMaskedLM: two token
/// types, no pooler; the head is computed for every token.
int64_t bert_parameters(const ModelShape& shape);
StepFlop bert_flop(const ModelShape& shape, int64_t batch_size, int64_t sequence_length);

/// Zaremba et al. 2014, arXiv:1409.2329, with the two biases of LibTorch's lstm.
int64_t lstm_parameters(const ModelShape& shape);
StepFlop lstm_flop(const ModelShape& shape, int64_t batch_size, int64_t sequence_length);

}  // namespace flopmark
