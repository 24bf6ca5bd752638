#pragma once

#include <cstdint>

namespace flopmark {

/// Calls of the global operator new of this test program so far, in all threads.
int64_t allocation_count();

}  // namespace flopmark
