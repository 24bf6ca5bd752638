#pragma once

namespace flopmark {

/// Gives the meta device the operators that LibTorch implements for it in Python only: embedding, layer and
/// batch norm, convolution, where, attention; shapes alone, no values. Operators that a LibTorch already has
/// are left as they are. Once per process; later calls do nothing.
void add_meta_kernels();

/// Which attention the meta device pretends to have: a fused kernel, or matrix products. Fused at first.
void set_meta_attention(bool fused);

}  // namespace flopmark
