#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "config/key_table.h"

namespace flopmark {

// The rows of config_keys(), by section, and what several sections share. Only for src/config.

// Upper limits keep products of two or three sizes (parameters, tokens per step) inside int64.
inline constexpr int64_t kMaxCount = 2147483647;
inline constexpr int64_t kMaxWidth = 1048576;
inline constexpr int64_t kMaxSteps = 10000000;
inline constexpr double kMaxSeconds = 1e8;

inline constexpr NumberRange kPositive{.above_min = true};
inline constexpr NumberRange kFraction{.max = 1, .below_max = true};
inline constexpr const char* kFromPreset = "from the preset";

std::vector<KeyRow> name_rows();
std::vector<KeyRow> model_rows();
std::vector<KeyRow> data_source_rows();
std::vector<KeyRow> loader_rows();
std::vector<KeyRow> optimizer_rows();
std::vector<KeyRow> train_rows();
std::vector<KeyRow> measure_rows();
std::vector<KeyRow> parallel_rows();
std::vector<KeyRow> peak_rows();

KeyScope language_models();
/// Built-in models of images, and models from a file with data of images.
KeyScope image_models();

/// What a plug-in may call a model or data set.
StringForm plugin_name();
StringForm file_path();

}  // namespace flopmark
