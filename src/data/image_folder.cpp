#include "data/image_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <span>
#include <system_error>

#include "config/key_value.h"
#include "data/content_hash.h"
#include "data/picture_end.h"
#include "flopmark/counted.h"
#include "flopmark/error.h"

namespace flopmark {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLayout =
    "data.type images reads .jpg, .jpeg and .png files, in one sub-folder per class or all in one folder";

constexpr const char* kNoKey = "no data.* key leaves single pictures out";
constexpr size_t kMostTold = 10;

bool is_hidden(const fs::path& path) {
  return path.filename().string().starts_with('.');
}

bool is_called_picture(const fs::path& path) {
  std::string ending = path.extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return ending == ".jpg" || ending == ".jpeg" || ending == ".png";
}

[[noreturn]] void cannot_list(const fs::path& path, const std::error_code& error) {
  throw usage_error(fmt::format("{}: cannot read the folder: {}", path.string(), error.message()));
}

std::vector<fs::path> sorted_entries(const fs::path& folder) {
  std::error_code error;
  std::vector<fs::path> entries;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    if (!is_hidden(at->path())) entries.push_back(at->path());
  }
  if (error) cannot_list(folder, error);
  std::sort(entries.begin(), entries.end());
  return entries;
}

/// Pictures of one label, and how many other files lie beside them.
struct Found {
  std::vector<fs::path> pictures;
  int64_t others = 0;

  void add(const fs::path& path) {
    std::error_code error;
    if (is_called_picture(path) && fs::is_regular_file(path, error)) {
      pictures.push_back(path);
    } else {
      ++others;
    }
  }
};

/// Everything below a class's folder. Links to folders are not followed, so that there is no way around in
/// circles.
void add_below(const fs::path& folder, Found& found) {
  std::error_code error;
  fs::recursive_directory_iterator at(folder, error);
  for (const fs::recursive_directory_iterator end; !error && at != end; at.increment(error)) {
    std::error_code ignored;
    if (is_hidden(at->path())) {
      at.disable_recursion_pending();
    } else if (!at->is_directory(ignored)) {
      found.add(at->path());
    }
  }
  if (error) cannot_list(folder, error);
  std::sort(found.pictures.begin(), found.pictures.end());
}

void take(const Found& found, int64_t label, ImageFolder& folder) {
  for (const fs::path& path : found.pictures) {
    std::string relative = path.lexically_relative(folder.path).string();
    if (!is_utf8(relative)) {
      throw usage_error(fmt::format("{}: {}: only names in UTF-8 can be recorded; rename it", folder.path,
                                    quoted_text(relative)));
    }
    folder.pictures.push_back({std::move(relative), label});
  }
  folder.skipped += found.others;
}

/// Names and sizes, not contents: reading every picture would take as long as training on it.
std::string hash_of(const ImageFolder& folder) {
  std::string text;
  for (const ImageFolder::Picture& picture : folder.pictures) {
    std::error_code error;
    const auto bytes = fs::file_size(fs::path(folder.path) / picture.path, error);
    text += fmt::format("{}\n{}\n", picture.path, error ? 0 : bytes);
  }
  ContentHash hash;
  hash.add(std::as_bytes(std::span(text)));
  return fmt::format("{:016x}", hash.value());
}

void check_layout(const ImageFolder& folder, const Found& top, const std::vector<std::string>& empty) {
  if (folder.pictures.empty() && top.pictures.empty()) {
    throw usage_error(fmt::format("{}: holds no picture; {}", folder.path, kLayout));
  }
  if (folder.classes.empty()) return;
  if (!top.pictures.empty()) {
    throw usage_error(
        fmt::format("{}: {} and other pictures lie beside the class folders ({}, ...); move "
                    "them into one of these",
                    folder.path, top.pictures.front().filename().string(), folder.classes.front()));
  }
  if (!empty.empty()) {
    throw usage_error(
        fmt::format("{}: the class folder {} holds no picture; add some or remove it, as it would be a class",
                    folder.path, empty.front()));
  }
}

}  // namespace

ImageFolder list_image_folder(const std::string& path) {
  ImageFolder folder;
  folder.path = path;
  std::error_code error;
  if (!fs::is_directory(path, error)) {
    throw usage_error(fmt::format("{}: is no folder; {}", path, kLayout));
  }
  Found top;
  std::vector<std::string> empty;
  for (const fs::path& entry : sorted_entries(path)) {
    if (!fs::is_directory(entry, error)) {
      top.add(entry);
      continue;
    }
    Found found;
    add_below(entry, found);
    if (found.pictures.empty()) {
      empty.push_back(entry.filename().string());
      folder.skipped += found.others;
      continue;
    }
    take(found, static_cast<int64_t>(folder.classes.size()), folder);
    folder.classes.push_back(entry.filename().string());
  }
  check_layout(folder, top, empty);
  take(top, 0, folder);
  folder.hash = hash_of(folder);
  return folder;
}

void check_pictures(const ImageFolder& folder) {
  const int64_t count = std::min(kMostLookedAt, std::ssize(folder.pictures));
  std::vector<std::string> faults;
  for (int64_t i = 0; i < count; ++i) {
    const ImageFolder::Picture& picture = folder.pictures[static_cast<size_t>(i)];
    try {
      check_picture_file((fs::path(folder.path) / picture.path).string());
    } catch (const Error& error) {
      faults.emplace_back(error.what());
    }
  }
  if (faults.empty()) return;
  if (faults.size() == 1) throw usage_error(faults.front() + "; " + kNoKey);
  std::string list;
  for (size_t i = 0; i < std::min(faults.size(), kMostTold); ++i) list += "\n  " + faults[i];
  if (faults.size() > kMostTold) list += fmt::format("\n  and {} more", faults.size() - kMostTold);
  throw usage_error(fmt::format("{}: {} of the {} that were looked at cannot be used ({}):{}", folder.path,
                                faults.size(), counted(count, "picture"), kNoKey, list));
}

}  // namespace flopmark
