#pragma once

#include <array>
#include <cstdint>

#include "config/run_config.h"

namespace flopmark {

/// (value / 255 - mean) / standard deviation, per channel.
struct Normalisation {
  std::array<float, 3> mean{}, deviation{};
};

/// @throws Error 200 if the model takes no images, or says that it has fewer than `classes` classes.
void check_image_model(const RunConfig& config, int64_t classes);

}  // namespace flopmark
