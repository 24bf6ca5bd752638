#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "report/mfu_report.h"

namespace flopmark {

/// Rows of published figures: JSON, an array of objects or an object whose "cases" is one. Read of each row:
///   id; formula (a convention's key); hfu_formula (a hardware rule's key, or null);
///   model.layers, .hidden, .heads, .head_dim, .vocab, .seq_len, .params, .params_matmul,
///   .params_without_input_embedding; hardware.count, .peak_tflops (dense, of one device);
///   of run the first that is there: tokens_per_s_total, step_s with global_batch, samples_per_s,
///   tokens_per_s_per_gpu; what else is there must agree with it within 1 %.
/// Other keys are the source's own and left alone. `source` names the text in messages.
/// @throws Error 200 naming the row by its id and the key: missing, of the wrong type, not positive, unknown
/// formula, contradiction, an id given twice, no rows.
std::vector<MfuCase> parse_mfu_cases(const std::string& text, const std::string& source);

/// The same of a file of at most 16 MiB.
std::vector<MfuCase> read_mfu_cases(const std::filesystem::path& file);

}  // namespace flopmark
