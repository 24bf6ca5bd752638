#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace flopmark {

/// A folder of pictures by their names; no picture is opened.
struct ImageFolder {
  struct Picture {
    std::string path;  ///< relative to the folder
    int64_t label = 0;
  };
  std::string path;
  std::vector<std::string> classes;  ///< sub-folders, sorted by name; empty: a flat folder, every label 0
  std::vector<Picture> pictures;     ///< by class, then by path
  int64_t skipped = 0;               ///< other files
  std::string hash;                  ///< of the pictures' paths and sizes, 16 hex digits
  int64_t label_count() const { return classes.empty() ? 1 : static_cast<int64_t>(classes.size()); }
};

/// Lists the files with the ending .jpg, .jpeg or .png (in any case) of a folder: every sub-folder is a
/// class and is read to its depth, links to files are followed; or, where no sub-folder has pictures, the
/// folder's own files are one class. Other files are counted; names that begin with a dot are not looked at.
/// @throws Error 200: no folder, no pictures, a class without pictures, pictures beside classes, a name that
/// is not UTF-8.
ImageFolder list_image_folder(const std::string& path);

/// Pictures of a folder that are looked at before training; some 40 us each.
inline constexpr int64_t kMostLookedAt = 10000;

/// Looks at header and end of the first kMostLookedAt pictures, so that files that are none, or cut short,
/// are told before training.
/// @throws Error 200 naming those that cannot be used, up to ten, each with the reason.
void check_pictures(const ImageFolder& folder);

}  // namespace flopmark
