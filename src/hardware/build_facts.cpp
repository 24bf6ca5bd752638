#include "hardware/build_facts.h"

#include <dlfcn.h>

#include <array>
#include <string_view>

namespace flopmark {
namespace {

struct SanitizerSymbol {
  const char* symbol;
  const char* name;
};

/// Functions that every version of a run-time library exports.
constexpr std::array kSymbols{
    SanitizerSymbol{"__asan_init", "address"}, SanitizerSymbol{"__tsan_init", "thread"},
    SanitizerSymbol{"__msan_init", "memory"}, SanitizerSymbol{"__ubsan_handle_add_overflow", "undefined"}};

}  // namespace

std::string sanitizer_names(const std::function<bool(const char*)>& has_symbol) {
  std::string names;
  for (const SanitizerSymbol& sanitizer : kSymbols) {
    if (has_symbol(sanitizer.symbol)) names += (names.empty() ? "" : ", ") + std::string(sanitizer.name);
  }
  return names.empty() ? "none" : names;
}

std::string sanitizers_here() {
  return sanitizer_names([](const char* symbol) { return ::dlsym(RTLD_DEFAULT, symbol) != nullptr; });
}

std::optional<std::string> build_type_of(const std::string& description) {
  constexpr std::string_view kKey = "BUILD_TYPE=";
  const size_t key = description.find(kKey);
  if (key == std::string::npos) return std::nullopt;
  const size_t begin = key + kKey.size();
  const size_t end = description.find_first_of(", \n", begin);
  const std::string type = description.substr(begin, end == std::string::npos ? end : end - begin);
  return type.empty() ? std::nullopt : std::optional(type);
}

}  // namespace flopmark
