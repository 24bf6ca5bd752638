#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "data/mapped_file.h"
#include "data/token_file.h"

namespace flopmark {

/// What only reading a whole file can tell.
struct FileFacts {
  int64_t max_id = 0;  ///< largest id
  std::string hash;    ///< ContentHash of every byte, 16 hex digits
  bool operator==(const FileFacts&) const = default;
};

/// Reads the file once; or not at all, if `cache_folder` has what an earlier run found for the same path,
/// size, mtime, inode and format. Files too small to be worth it, or changed within the last two seconds
/// (their mtime could miss a second change), are not cached. A cache that cannot be read or written is done
/// without.
/// @throws Error 200 if the file is changed meanwhile.
FileFacts file_facts(const MappedFile& file, const TokenLayout& layout,
                     const std::optional<std::filesystem::path>& cache_folder);

/// $XDG_CACHE_HOME/flopmark, else $HOME/.cache/flopmark, else none.
std::optional<std::filesystem::path> default_cache_folder();

/// Position of the first id >= `bound`, if there is one.
std::optional<int64_t> first_id_from(const MappedFile& file, const TokenLayout& layout, int64_t bound);

/// The id at `position`, in [0, layout.count).
int64_t id_at(const MappedFile& file, const TokenLayout& layout, int64_t position);

}  // namespace flopmark
