#include "hardware/kernel_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <charconv>

namespace flopmark {

std::string KernelFiles::text(const std::string& path) const {
  // Not a stream: one over a file that opens but may not be read throws from its buffer.
  const int descriptor = ::open(at(path).c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return {};
  std::string text;
  char buffer[4096];
  ssize_t size = 0;
  while ((size = ::read(descriptor, buffer, sizeof buffer)) > 0)
    text.append(buffer, static_cast<size_t>(size));
  ::close(descriptor);
  return size == 0 ? text : std::string();
}

std::optional<int64_t> KernelFiles::count(const std::string& path) const {
  const std::string content = text(path);
  int64_t value = 0;
  const auto parsed = std::from_chars(content.data(), content.data() + content.size(), value);
  const bool is_whole =
      parsed.ptr == content.data() + content.size() || *parsed.ptr == ' ' || *parsed.ptr == '\n';
  if (parsed.ec != std::errc() || !is_whole || value < 0) return std::nullopt;
  return value;
}

std::vector<int> usable_cpus() {
  // A machine may have more CPUs than the fixed set holds; the kernel then answers EINVAL.
  for (int possible = 1024; possible <= (1 << 20); possible *= 2) {
    cpu_set_t* set = CPU_ALLOC(static_cast<size_t>(possible));
    if (!set) return {};
    const size_t bytes = CPU_ALLOC_SIZE(static_cast<size_t>(possible));
    const bool known = sched_getaffinity(0, bytes, set) == 0;
    std::vector<int> cpus;
    for (int cpu = 0; known && cpu < possible; ++cpu) {
      if (CPU_ISSET_S(static_cast<size_t>(cpu), bytes, set)) cpus.push_back(cpu);
    }
    CPU_FREE(set);
    if (known) return cpus;
  }
  return {};
}

std::optional<std::string> cpu_list_text(const std::vector<int>& cpus) {
  std::string text;
  for (size_t first = 0; first < cpus.size();) {
    size_t last = first;
    while (last + 1 < cpus.size() && cpus[last + 1] == cpus[last] + 1) ++last;
    text += fmt::format("{}{}", text.empty() ? "" : ",", cpus[first]);
    if (last > first) text += fmt::format("-{}", cpus[last]);
    first = last + 1;
  }
  return text.empty() ? std::nullopt : std::optional(text);
}

}  // namespace flopmark
