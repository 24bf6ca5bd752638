#include "hardware/host_facts.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <set>
#include <utility>

namespace flopmark {
namespace {

constexpr std::array kSpeedPrefixes = {
    "OMP_",    "MKL_",   "KMP_",         "GOMP_", "TORCH_",  "PYTORCH_",  "NCCL_",          "CUDA_",  "ATEN_",
    "CUBLAS_", "CUDNN_", "NVIDIA_TF32_", "DNNL_", "ONEDNN_", "OPENBLAS_", "TORCHINDUCTOR_", "MALLOC_"};
constexpr std::array kSpeedNames = {"LD_PRELOAD", "GLIBC_TUNABLES"};
/// Named as if they did; flopmark sets the first for its ranks.
constexpr std::array kOtherNames = {"TORCH_NCCL_ENABLE_MONITORING"};
constexpr std::array kSecretWords = {"TOKEN", "SECRET", "PASSWORD", "API_KEY"};

std::string_view trimmed(std::string_view text) {
  constexpr const char* kBlank = " \t\r\n";
  const size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

/// The value of the first line "key <separator> value" that has one.
std::optional<std::string> value_of(std::string_view text, std::string_view key, char separator) {
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const size_t split = line.find(separator);
    if (split == std::string_view::npos || trimmed(line.substr(0, split)) != key) continue;
    const std::string_view value = trimmed(line.substr(split + 1));
    if (!value.empty()) return std::string(value);
  }
  return std::nullopt;
}

std::string without_quotes(std::string value) {
  const bool quoted =
      value.size() >= 2 && value.front() == value.back() && (value[0] == '"' || value[0] == '\'');
  return quoted ? value.substr(1, value.size() - 2) : value;
}

bool changes_speed(std::string_view name) {
  const auto is_prefix = [&](std::string_view prefix) { return name.substr(0, prefix.size()) == prefix; };
  const auto is_inside = [&](std::string_view word) { return name.find(word) != std::string_view::npos; };
  const bool known = std::any_of(kSpeedPrefixes.begin(), kSpeedPrefixes.end(), is_prefix) ||
                     std::find(kSpeedNames.begin(), kSpeedNames.end(), name) != kSpeedNames.end();
  const bool other = std::find(kOtherNames.begin(), kOtherNames.end(), name) != kOtherNames.end();
  return known && !other && std::none_of(kSecretWords.begin(), kSecretWords.end(), is_inside);
}

}  // namespace

std::optional<std::string> cpu_model_of(std::string_view cpuinfo) {
  for (const char* key : {"model name", "Model", "Hardware", "cpu model", "cpu"}) {
    if (auto value = value_of(cpuinfo, key, ':')) return value;
  }
  return std::nullopt;
}

std::optional<std::string> os_name_of(std::string_view os_release) {
  for (const char* key : {"PRETTY_NAME", "NAME"}) {
    if (auto value = value_of(os_release, key, '=')) return without_quotes(*value);
  }
  return std::nullopt;
}

std::optional<std::string> joined_governors(const std::vector<std::string>& governors) {
  std::set<std::string> distinct;
  for (const auto& governor : governors) {
    if (!trimmed(governor).empty()) distinct.emplace(trimmed(governor));
  }
  std::string joined;
  for (const auto& governor : distinct) joined += (joined.empty() ? "" : "+") + governor;
  if (joined.empty()) return std::nullopt;
  return joined;
}

std::optional<int64_t> memory_line_of(std::string_view meminfo, std::string_view key) {
  constexpr int64_t kKiB = 1024;
  const auto text = value_of(meminfo, key, ':');
  int64_t kib = 0;
  if (!text || std::from_chars(text->data(), text->data() + text->size(), kib).ec != std::errc() || kib < 0) {
    return std::nullopt;
  }
  return kib * kKiB;
}

std::optional<int64_t> memory_of(std::string_view meminfo) {
  const auto bytes = memory_line_of(meminfo, "MemTotal");
  return bytes && *bytes > 0 ? bytes : std::nullopt;
}

std::optional<int64_t> list_size_of(std::string_view list) {
  int64_t size = 0;
  for (list = trimmed(list); !list.empty();) {
    const std::string_view range = list.substr(0, list.find(','));
    list.remove_prefix(std::min(range.size() + 1, list.size()));
    int64_t first = 0;
    const char* const end = range.data() + range.size();
    auto parsed = std::from_chars(range.data(), end, first);
    int64_t last = first;
    if (parsed.ec == std::errc() && parsed.ptr != end && *parsed.ptr == '-') {
      parsed = std::from_chars(parsed.ptr + 1, end, last);
    }
    if (parsed.ec != std::errc() || parsed.ptr != end || first < 0 || last < first) return std::nullopt;
    size += last - first + 1;
  }
  return size > 0 ? std::optional(size) : std::nullopt;
}

std::optional<std::string> container_of_groups(std::string_view cgroup) {
  constexpr std::array<std::pair<const char*, const char*>, 6> kSigns{{{"kubepods", "kubernetes"},
                                                                       {"docker", "docker"},
                                                                       {"libpod", "podman"},
                                                                       {"containerd", "containerd"},
                                                                       {"/lxc", "lxc"},
                                                                       {"machine.slice/machine-", "nspawn"}}};
  for (const auto& [sign, name] : kSigns) {
    if (cgroup.find(sign) != std::string_view::npos) return name;
  }
  return std::nullopt;
}

std::map<std::string, std::string> speed_variables(const char* const* environment) {
  std::map<std::string, std::string> found;
  for (; environment && *environment; ++environment) {
    const std::string_view entry = *environment;
    const size_t split = entry.find('=');
    if (split == std::string_view::npos || !changes_speed(entry.substr(0, split))) continue;
    found.emplace(entry.substr(0, split), entry.substr(split + 1));
  }
  return found;
}

}  // namespace flopmark
