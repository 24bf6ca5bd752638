#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace flopmark {

/// A file that a build made.
struct BuiltArtifact {
  std::filesystem::path file;  ///< absolute; a copy in the cache
  std::string hash;            ///< of its bytes, 40 hex digits
  double build_s = 0;          ///< what the build took, when it was made
  bool from_cache = false;
};

/// Where bisections keep what they build, in build_cache(): a folder each, with a folder artifacts/<commit>
/// for each commit.
std::filesystem::path artifact_cache(const std::filesystem::path& cache);

/// Copies `artifact` into `kept`, whole or not at all, with hash and build time of `facts`. @throws Error 200
/// if there is no room for it.
void keep_artifact(const std::filesystem::path& artifact, const std::filesystem::path& kept,
                   const BuiltArtifact& facts);

/// What is kept there, and marks it as used; absent if nothing is.
std::optional<BuiltArtifact> find_artifact(const std::filesystem::path& kept);

/// Removes the artifacts that were used longest ago until the rest takes at most `most_bytes`; the last three
/// stay in any case.
void limit_artifacts(const std::filesystem::path& cache, int64_t most_bytes);

}  // namespace flopmark
