#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "config/run_config.h"

namespace flopmark {

/// Reads a list of inputs into `inputs`. @returns what is wrong with it, beginning with the place below
/// `path`, such as: data.inputs[1].dtype: found "float", expected one of float32, ... Empty, and `inputs`
/// changed, if nothing is.
std::string read_inputs(const nlohmann::json& value, const std::string& path, std::vector<InputSpec>& inputs);

/// The inverse: every entry with shape and dtype, whole numbers with high.
nlohmann::json inputs_to_json(const std::vector<InputSpec>& inputs);

/// Makes what an exported model's file says of its inputs part of `config`, with the batch size; null changes
/// nothing. @throws Error 205 if `inputs` is no such list.
void take_inputs(RunConfig& config, const nlohmann::json& inputs);

/// JSON Schema of such a list.
nlohmann::json inputs_schema();

/// What such a list is, in words.
std::string inputs_text();

}  // namespace flopmark
