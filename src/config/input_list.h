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

/// What an exported model's file says of the data, as take_model_data() reads it: batch_size and, of
/// synthetic data, inputs.
nlohmann::json model_data_to_json(const DataConfig& data);

/// Makes it part of `config`; null changes nothing. @throws Error 205 if it is none.
void take_model_data(RunConfig& config, const nlohmann::json& model_data);

/// JSON Schema of such a list.
nlohmann::json inputs_schema();

/// What such a list is, in words.
std::string inputs_text();

}  // namespace flopmark
