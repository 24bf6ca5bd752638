#include <ATen/Context.h>
#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <string_view>

#include "flopmark/counted.h"
#include "flopmark/error.h"
#include "train/torch_step.h"

namespace flopmark {
namespace {

/// Why there is no CUDA device to use.
std::string why_no_cuda() {
  return at::globalContext().hasCUDART() ? "LibTorch sees no CUDA device on this machine (is the driver "
                                           "loaded, is CUDA_VISIBLE_DEVICES empty?)"
                                         : "this worker is built without LibTorch's CUDA libraries "
                                           "(configure it with -DFLOPMARK_CUDA=ON)";
}

/// The N of "cuda:N", 0 for "cuda"; nothing for any other text.
std::optional<int64_t> cuda_index(std::string_view name) {
  if (name == "cuda") {
    return 0;
  }
  constexpr std::string_view kPrefix = "cuda:";
  int64_t index = 0;
  if (name.substr(0, kPrefix.size()) != kPrefix) {
    return std::nullopt;
  }
  const char* const end = name.data() + name.size();
  const auto [rest, fault] = std::from_chars(name.data() + kPrefix.size(), end, index);
  if (fault != std::errc() || rest != end || index < 0) {
    return std::nullopt;
  }
  return index;
}

torch::Device cuda_device(int64_t index) {
  return {torch::kCUDA, static_cast<c10::DeviceIndex>(index)};
}

}  // namespace

torch::Device resolve_device(const std::string& name) {
  const auto count = static_cast<int64_t>(at::getNumGPUs());
  if (name == "cpu" || (name == "auto" && count == 0)) {
    return torch::kCPU;
  }
  if (name == "auto") {
    return cuda_device(0);
  }
  const auto index = cuda_index(name);
  if (!index) {
    throw usage_error(fmt::format("device: unknown \"{}\"; known are auto, cpu, cuda and cuda:N", name));
  }
  if (count == 0) {
    throw usage_error(fmt::format("device: \"{}\", but {}; use cpu or auto", name, why_no_cuda()));
  }
  if (*index >= count) {
    throw usage_error(
        fmt::format("device: \"{}\", but there {} {} here, the first is cuda:0; use one that is there", name,
                    noun_for(count, "is", "are"), counted(count, "CUDA device")));
  }
  return cuda_device(*index);
}

std::optional<int64_t> gpu_of_rank(const RankPlace& place, int64_t count) {
  if (count >= place.local_ranks) return place.local_rank;
  const bool is_launched = place.meeting_file.empty();
  return is_launched && count == 1 ? std::optional<int64_t>(0) : std::nullopt;
}

std::string rank_device(const std::string& name, const RankPlace& place) {
  const auto count = static_cast<int64_t>(at::getNumGPUs());
  const bool own_gpus = name == "cuda" || (name == "auto" && count > 0);
  if (!own_gpus) {
    if (!cuda_index(name) || place.local_ranks == 1) return name;
    throw usage_error(fmt::format(
        "device: \"{}\" is one GPU, but {} ranks run on this host; use cuda or auto, which give each "
        "rank its own",
        name, place.local_ranks));
  }
  const auto gpu = gpu_of_rank(place, count);
  if (!gpu) {
    throw usage_error(
        fmt::format("device: \"{}\", but there {} {} for the {} ranks on this host (parallel.ranks); use as "
                    "many ranks as devices, or device cpu{}",
                    name, noun_for(count, "is", "are"), counted(count, "CUDA device"), place.local_ranks,
                    count == 0 ? fmt::format(" ({})", why_no_cuda()) : ""));
  }
  return fmt::format("cuda:{}", *gpu);
}

}  // namespace flopmark
