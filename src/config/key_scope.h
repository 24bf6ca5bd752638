#pragma once

#include <string>

#include "config/key_table.h"

namespace flopmark {

/// What the key is for: "only for model.type llama, gpt2"; empty if for everything.
std::string scope_text(const KeyRow& row);

/// Whether the key applies to the model, data and optimizer types of `config`.
bool applies_to(const KeyRow& row, const RunConfig& config);

/// Why it does not, such as: does not apply to model.type "mlp", only to llama, gpt2. Empty if it applies.
std::string scope_conflict(const KeyRow& row, const RunConfig& config);

}  // namespace flopmark
