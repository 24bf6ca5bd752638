// Shared libraries that are no plug-ins, one for each BROKEN_...
#include <stdexcept>

#if defined(BROKEN_SYMBOL)  // what a library of another LibTorch looks like
namespace at {
int operator_of_another_version(const char*, int);
}
extern "C" const void* flopmark_plugin();
extern "C" const void* flopmark_plugin() {
  static const int result = at::operator_of_another_version("", 1);
  return &result;
}
#elif defined(BROKEN_INITIALISER)
namespace {
int fail() {
  throw std::runtime_error("the licence server is away");
}
const int kResult = fail();
}  // namespace
extern "C" const void* flopmark_plugin();
extern "C" const void* flopmark_plugin() {
  return &kResult;
}
#elif defined(BROKEN_LOADING)
#include <csignal>

namespace {
const int kResult = ::raise(SIGSEGV);
}  // namespace
extern "C" const void* flopmark_plugin();
extern "C" const void* flopmark_plugin() {
  return &kResult;
}
#else  // BROKEN_ENTRY: an ordinary library
extern "C" int add(int a, int b);
extern "C" int add(int a, int b) {
  return a + b;
}
#endif
