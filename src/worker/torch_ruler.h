#pragma once

#include <torch/types.h>

#include <memory>
#include <optional>

#include "measure/ruler.h"

namespace flopmark {

/// A product of 512 x 512 (on an accelerator 4096 x 4096) fp32 matrices, TF32 off, and a copy of 32 MiB
/// (16 of 64 MiB) on `device`. On a CPU its memory never passes through malloc, whose thresholds would
/// remember it. LibTorch's random generators are left alone; its TF32 switch is put back by the destructor.
/// @throws c10::OutOfMemoryError, std::bad_alloc where there is no room for 64 MiB (192 MiB).
std::unique_ptr<RulerKernel> make_ruler_kernel(const torch::Device& device);

/// A reading added to `ruler`; the memory it took is given back, an accelerator's cache emptied. Where there
/// is no memory for it there is no reading.
void read_ruler_on(const torch::Device& device, std::optional<Ruler>& ruler);

}  // namespace flopmark
