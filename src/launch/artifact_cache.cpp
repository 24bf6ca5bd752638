#include "launch/artifact_cache.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <system_error>
#include <vector>

#include "flopmark/error.h"

namespace flopmark {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFacts = "flopmark-build.json";
constexpr size_t kAlwaysKept = 3;  ///< two that are compared, and the last one built

struct Kept {
  fs::file_time_type used;
  fs::path folder;
  int64_t bytes = 0;
};

int64_t bytes_in(const fs::path& folder) {
  int64_t bytes = 0;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    std::error_code none;
    const uintmax_t size = at->file_size(none);
    if (!none) bytes += static_cast<int64_t>(size);
  }
  return bytes;
}

/// Every artifact in the cache, last used first.
std::vector<Kept> kept_artifacts(const fs::path& cache) {
  std::vector<Kept> all;
  std::error_code error;
  for (fs::directory_iterator each(artifact_cache(cache), error), end; !error && each != end;
       each.increment(error)) {
    std::error_code none;
    for (fs::directory_iterator at(each->path() / "artifacts", none); !none && at != end;
         at.increment(none)) {
      std::error_code missing;
      const auto used = fs::last_write_time(at->path() / kFacts, missing);
      if (!missing) all.push_back({used, at->path(), bytes_in(at->path())});
    }
  }
  std::sort(all.begin(), all.end(), [](const Kept& x, const Kept& y) { return x.used > y.used; });
  return all;
}

}  // namespace

fs::path artifact_cache(const fs::path& cache) {
  return cache / "bisect";
}

void keep_artifact(const fs::path& artifact, const fs::path& kept, const BuiltArtifact& facts) {
  const fs::path half = kept.string() + ".new";
  std::error_code error;
  fs::remove_all(half, error);
  fs::create_directories(half, error);
  if (!error) fs::copy_file(artifact, half / artifact.filename(), error);
  std::ofstream out(half / kFacts);
  out << nlohmann::json{{"file", artifact.filename().string()},
                        {"hash", facts.hash},
                        {"build_s", facts.build_s}}
      << '\n';
  out.close();
  if (!error && out) fs::remove_all(kept, error);  // what a removal that was cut short left
  if (!error && out) fs::rename(half, kept, error);
  if (!error && out) return;
  const std::string why = error ? error.message() : "no room";
  fs::remove_all(half, error);
  throw usage_error(
      fmt::format("cannot keep {} in {}: {}; make room there, or name another place in "
                  "FLOPMARK_CACHE",
                  artifact.string(), kept.string(), why));
}

std::optional<BuiltArtifact> find_artifact(const fs::path& kept) {
  std::ifstream in(kept / kFacts);
  const auto facts = nlohmann::json::parse(in, nullptr, false);
  if (!facts.is_object() || !facts.contains("file")) return std::nullopt;
  BuiltArtifact found{kept / facts["file"].get<std::string>(), facts.value("hash", ""),
                      facts.value("build_s", 0.0), true};
  std::error_code error;
  if (!fs::is_regular_file(found.file, error) || found.hash.empty()) return std::nullopt;
  fs::last_write_time(kept / kFacts, fs::file_time_type::clock::now(), error);
  return found;
}

void limit_artifacts(const fs::path& cache, int64_t most_bytes) {
  const std::vector<Kept> all = kept_artifacts(cache);
  int64_t bytes = 0;
  for (size_t i = 0; i < all.size(); ++i) {
    bytes += all[i].bytes;
    if (bytes <= most_bytes || i < kAlwaysKept) continue;
    std::error_code ignored;
    fs::remove_all(all[i].folder, ignored);
    bytes -= all[i].bytes;
  }
}

}  // namespace flopmark
