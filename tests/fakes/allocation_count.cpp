#include "fakes/allocation_count.h"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<int64_t> allocations{0};

void* allocate(std::size_t size) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  if (void* memory = std::malloc(size != 0 ? size : 1)) {
    return memory;
  }
  throw std::bad_alloc();
}

}  // namespace

// The program's own operator new; the array and nothrow forms of the standard library end here too.
// Over-aligned types have another form, which nothing here uses.
void* operator new(std::size_t size) {
  return allocate(size);
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}

namespace flopmark {

int64_t allocation_count() {
  return allocations.load(std::memory_order_relaxed);
}

}  // namespace flopmark
