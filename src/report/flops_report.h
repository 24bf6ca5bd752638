#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "flopmark/flop_totals.h"
#include "flops/transformer_shape.h"
#include "report/grid.h"

namespace flopmark {

/// Shape and tokens of a step, for the formulas that are used elsewhere.
struct FormulaInputs {
  TransformerShape shape;
  int64_t tokens = 0;  ///< per optimizer step and rank
};

/// A counted step and what the count rests on.
struct FlopsSubject {
  std::string name;
  std::string model;  ///< "llama (llama-3-8b)"
  std::string step;   ///< "4 micro-batches of 2 x 128 tokens"
  FlopTotals flops;   ///< of one optimizer step and rank
  int64_t parameters = 0;
  std::optional<int64_t> active_parameters = {};  ///< those that a token meets, where they are not all
  std::string attention_kernel;                   ///< fused, unfused, none
  std::string counted_on;                         ///< meta, or the device of the real step
  std::optional<FormulaInputs> formulas;          ///< absent where no convention applies
};

/// Tables by phase, operator, module (`depth` parts of the path) and number type, what was left out, and the
/// other conventions with their difference in percent.
std::string flops_tables(const FlopsSubject& subject, TableStyle style, size_t depth);
/// The record's `flops` object with `parameters`, `by_module` (whole paths unless `depth` is given),
/// `attention_kernel`, `counted_on` and `conventions`; `active_parameters` of a mixture of experts.
nlohmann::ordered_json flops_json(const FlopsSubject& subject, std::optional<size_t> depth);

}  // namespace flopmark
