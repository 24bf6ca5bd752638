// git.h in a build without libgit2: as if nothing lay in a Git tree, and saying why.
#include "flopmark/error.h"
#include "results/git.h"

namespace flopmark {
namespace {

constexpr const char* kNoGit = "this flopmark is built without Git (-DFLOPMARK_GIT=OFF)";

}  // namespace

Subject inspect_tree(const std::filesystem::path&) {
  Subject subject;
  subject.reason = kNoGit;
  return subject;
}

std::optional<std::filesystem::path> tree_top(const std::filesystem::path&) {
  return std::nullopt;
}

bool has_uncommitted_changes(const std::filesystem::path& file) {
  std::error_code error;
  return std::filesystem::exists(std::filesystem::symlink_status(file, error));
}

bool merges_by_union(const std::filesystem::path&) {
  return true;
}

std::string file_at(const std::filesystem::path&, const std::string& reference, const std::string& path) {
  throw baseline_error(reference + ":" + path + ": " + kNoGit);
}

std::vector<std::string> files_at(const std::filesystem::path&, const std::string& reference,
                                  const std::string&) {
  throw baseline_error(reference + ": " + kNoGit);
}

std::optional<int64_t> commits_between(const std::filesystem::path&, const std::string&, const std::string&) {
  return std::nullopt;
}

std::optional<bool> have_same_files(const std::filesystem::path&, const std::string&, const std::string&) {
  return std::nullopt;
}

std::string commit_of(const std::filesystem::path&, const std::string& reference) {
  throw usage_error(reference + ": " + kNoGit);
}

bool is_bisecting(const std::filesystem::path&) {
  return false;
}

}  // namespace flopmark
