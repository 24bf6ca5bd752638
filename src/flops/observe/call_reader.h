#pragma once

#include <ATen/record_function.h>

#include <vector>

#include "flops/operator_call.h"

namespace flopmark {

/// What a rule may know of a dispatched call. A tensor that is not dense (sparse, nested) counts as absent:
/// its FLOPs do not follow from its shape. `values_of`: integer tensor arguments whose content is read, which
/// waits for the device; on the meta device there is none. `product_at`: the first tensor from there on gives
/// the number type. Reading runs no observed operator. Only inside a start callback.
OperatorCall read_call(const at::RecordFunction& function, const std::vector<size_t>& values_of,
                       size_t product_at = 0);

}  // namespace flopmark
