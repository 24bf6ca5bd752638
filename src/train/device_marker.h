#pragma once

#include <torch/types.h>

#include <memory>

#include "measure/step.h"

namespace flopmark {

/// Device events on a GPU (recorded into the current stream, read after synchronize()), host clock reads on a
/// CPU.
std::unique_ptr<Marker> make_marker(const torch::Device& device, Clock& clock);

}  // namespace flopmark
