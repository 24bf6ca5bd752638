#pragma once

#include <ATen/core/function_schema.h>

#include <string>

namespace flopmark {

/// Whether models from files may not call this operator, such as aten::save: it is of no namespace that
/// computes or annotates, or it touches files, processes or the terminal.
bool refuses_operator(const std::string& name);

/// Whether an operator wants what a graph of tensors and numbers does not have: the name of a file, a raw
/// storage, a stream, an object.
bool wants_more_than_tensors(const c10::FunctionSchema& schema);

}  // namespace flopmark
