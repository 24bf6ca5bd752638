#include "plugin/plugin_library.h"

#include <cxxabi.h>
#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <string_view>
#include <utility>

namespace flopmark {
namespace {

namespace fs = std::filesystem;

constexpr const char* kEntry = "flopmark_plugin";
constexpr size_t kLongestReason = 400;
constexpr std::string_view kMissingSymbol = "undefined symbol: ";

/// What has to be done where the plug-in and this program do not fit.
std::string rebuild_advice() {
  return fmt::format("build it again with the SDK of this flopmark (SDK {}) against LibTorch {}", kPluginSdk,
                     TORCH_VERSION);
}

/// What the file's name and first bytes tell before anything of it runs.
void check_file(const PluginPlace& place) {
  std::error_code error;
  const auto status = fs::status(place.path, error);
  if (status.type() == fs::file_type::not_found) {
    refuse_plugin(place, "no such file; build it, or mend the path");
  }
  if (!fs::is_regular_file(status)) refuse_plugin(place, "is not a regular file");
  errno = 0;
  std::ifstream stream(place.path, std::ios::binary);
  if (!stream) refuse_plugin(place, fmt::format("cannot be read: {}", std::strerror(errno)));
  std::array<char, 4> first{};
  stream.read(first.data(), first.size());
  if (std::string_view(first.data(), static_cast<size_t>(stream.gcount())) !=
      "\x7f"
      "ELF") {
    refuse_plugin(place, "is no shared library; name the .so that the build makes of the plug-in");
  }
}

std::string readable_symbol(const std::string& symbol) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> name(
      abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), std::free);
  return status == 0 ? fmt::format("{} ({})", name.get(), symbol) : symbol;
}

/// Why the loader refuses the file, in its own words but for the names of symbols.
[[noreturn]] void refuse_loading(const PluginPlace& place, std::string reason) {
  reason = reason.substr(0, kLongestReason);
  const size_t missing = reason.find(kMissingSymbol);
  if (missing == std::string::npos) {
    refuse_plugin(place, fmt::format("cannot be loaded: {}; {}", reason, rebuild_advice()));
  }
  std::string symbol = reason.substr(missing + kMissingSymbol.size());
  symbol = symbol.substr(0, symbol.find_first_of(", \n"));
  refuse_plugin(place, fmt::format("cannot be loaded: undefined symbol {}; link the library that has it, or, "
                                   "if it is of LibTorch, {}",
                                   readable_symbol(symbol), rebuild_advice()));
}

/// An initialiser of the library that throws cannot be caught: the loader ends the process.
void* open_library(const PluginPlace& place) {
  const PluginCall load(place, "loading it (a static initialiser, or a file that is cut short)");
  void* handle = load([&] { return ::dlopen(place.path.c_str(), RTLD_NOW | RTLD_LOCAL); });
  if (handle == nullptr) {
    const char* reason = ::dlerror();
    refuse_loading(place, reason == nullptr ? "the loader does not say why" : reason);
  }
  return handle;
}

const Plugin* call_entry(const PluginPlace& place, void* handle) {
  void* symbol = ::dlsym(handle, kEntry);
  if (symbol == nullptr) {
    refuse_plugin(place, fmt::format("has no function {0}; define extern \"C\" const flopmark::Plugin* {0}() "
                                     "in it, as flopmark/plugin.h says",
                                     kEntry));
  }
  const auto entry = reinterpret_cast<const Plugin* (*)()>(symbol);
  const Plugin* plugin = PluginCall(place, fmt::format("{}()", kEntry))(entry);
  if (plugin == nullptr) refuse_plugin(place, fmt::format("{}() returned null", kEntry));
  return plugin;
}

/// Before anything else of the plug-in is read, whose layout these decide.
void check_build(const PluginPlace& place, const PluginBuild& build) {
  if (build.sdk != kPluginSdk) {
    refuse_plugin(place, fmt::format("was built with SDK {} of flopmark, and this worker has SDK {}; {}",
                                     build.sdk, kPluginSdk, rebuild_advice()));
  }
  const std::string libtorch = build.libtorch == nullptr ? "of no version" : build.libtorch;
  if (libtorch != TORCH_VERSION) {
    refuse_plugin(place, fmt::format("was built against LibTorch {}, and this worker runs LibTorch {}; {}",
                                     libtorch, TORCH_VERSION, rebuild_advice()));
  }
  if (build.cxx11_abi != _GLIBCXX_USE_CXX11_ABI) {
    refuse_plugin(place, fmt::format("was built with _GLIBCXX_USE_CXX11_ABI={}, and this worker with {}; {}",
                                     build.cxx11_abi, _GLIBCXX_USE_CXX11_ABI, rebuild_advice()));
  }
}

template <class Entry>
void check_names(const PluginPlace& place, const std::vector<Entry>& entries, const char* what) {
  std::set<std::string> seen;
  for (const Entry& entry : entries) {
    if (seen.insert(entry.name).second) continue;
    refuse_plugin(place, fmt::format("holds two {} called \"{}\"; rename one", what, entry.name));
  }
}

template <class Entry>
std::string names_of(const std::vector<Entry>& entries) {
  std::vector<std::string> names;
  for (const Entry& entry : entries) names.push_back(entry.name);
  return names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "));
}

/// What the factory of the entry called `type` makes of a request.
template <class Entry, class Request>
auto make(const PluginPlace& place, const std::vector<Entry>& entries, const std::string& type,
          const Request& request, const char* what) {
  const auto found =
      std::find_if(entries.begin(), entries.end(), [&](const Entry& entry) { return entry.name == type; });
  const std::string key = place.key.substr(0, place.key.find('.')) + ".type";
  if (found == entries.end()) {
    throw usage_error(
        fmt::format("{}: {} has no {} \"{}\"; it has {}", key, place.text(), what, type, names_of(entries)));
  }
  if (found->make == nullptr)
    refuse_plugin(place, fmt::format("{} \"{}\" has no factory (null)", what, type));
  const PluginCall factory(place, fmt::format("making {} \"{}\"", what, type));
  auto made = factory([&] { return found->make(request); });
  if (made == nullptr) {
    refuse_plugin(place, fmt::format("the factory of {} \"{}\" returned null", what, type));
  }
  return made;
}

}  // namespace

PluginLibrary::PluginLibrary(PluginPlace place) : place_(std::move(place)) {
  check_file(place_);
  plugin_ = call_entry(place_, open_library(place_));
  check_build(place_, plugin_->build);
  check_names(place_, plugin_->models, "models");
  check_names(place_, plugin_->datasets, "data sets");
}

std::unique_ptr<TrainableModel> PluginLibrary::make_model(const std::string& type,
                                                          const OptionReader& options,
                                                          const torch::TensorOptions& tensor,
                                                          int64_t seed) const {
  auto model = make(place_, plugin_->models, type, ModelRequest{options, tensor, seed}, "model");
  options.check_all_asked();
  return model;
}

std::unique_ptr<Dataset> PluginLibrary::make_dataset(const std::string& type, const OptionReader& options,
                                                     int64_t batch_size, int64_t seed) const {
  auto dataset = make(place_, plugin_->datasets, type, DatasetRequest{options, batch_size, seed}, "data set");
  options.check_all_asked();
  return dataset;
}

}  // namespace flopmark
