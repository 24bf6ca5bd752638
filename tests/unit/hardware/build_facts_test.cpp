#include "hardware/build_facts.h"

#include <gtest/gtest.h>

#include <set>

namespace flopmark {
namespace {

std::string names_with(const std::set<std::string>& symbols) {
  return sanitizer_names([&](const char* symbol) { return symbols.contains(symbol); });
}

TEST(Sanitizers, AreToldByTheirRunTimeLibraries) {
  EXPECT_EQ(names_with({}), "none");
  EXPECT_EQ(names_with({"__asan_init"}), "address");
  EXPECT_EQ(names_with({"__ubsan_handle_add_overflow", "__asan_init", "malloc"}), "address, undefined");
  EXPECT_EQ(names_with({"__tsan_init"}), "thread");
  EXPECT_EQ(names_with({"__msan_init"}), "memory");
}

TEST(Sanitizers, OfThisProcess) {
#ifdef __SANITIZE_ADDRESS__
  EXPECT_NE(sanitizers_here().find("address"), std::string::npos);
#else
  EXPECT_EQ(sanitizers_here(), "none");
#endif
}

TEST(BuildType, IsReadFromLibTorchsDescription) {
  EXPECT_EQ(build_type_of("PyTorch built with:\n  - GCC 13.3\n  - Build settings: BLAS_INFO=mkl, "
                          "BUILD_TYPE=Release, COMMIT_SHA=0, CXX_COMPILER=/usr/bin/c++\n"),
            "Release");
  EXPECT_EQ(build_type_of("Build settings: BUILD_TYPE=Debug"), "Debug");
  EXPECT_EQ(build_type_of("Build settings: BUILD_TYPE=, X=1"), std::nullopt);
  EXPECT_EQ(build_type_of("PyTorch built with:"), std::nullopt);
}

}  // namespace
}  // namespace flopmark
