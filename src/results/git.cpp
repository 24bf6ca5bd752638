#include "results/git.h"

#include <fmt/format.h>
#include <git2.h>

#include <algorithm>
#include <memory>
#include <string_view>

#include "flopmark/error.h"

namespace flopmark {
namespace {

namespace fs = std::filesystem;

template <auto Free>
struct Freed {
  template <typename T>
  void operator()(T* object) const {
    Free(object);
  }
};
using Repository = std::unique_ptr<git_repository, Freed<git_repository_free>>;
using Reference = std::unique_ptr<git_reference, Freed<git_reference_free>>;
using Tree = std::unique_ptr<git_object, Freed<git_object_free>>;
using Diff = std::unique_ptr<git_diff, Freed<git_diff_free>>;

/// libgit2's global state, for as long as the process runs.
class LibraryState {
 public:
  LibraryState() { git_libgit2_init(); }
  ~LibraryState() { git_libgit2_shutdown(); }
  LibraryState(const LibraryState&) = delete;
  LibraryState& operator=(const LibraryState&) = delete;
};

std::string last_error() {
  const git_error* error = git_error_last();
  return error && error->message ? error->message : "unknown error";
}

Subject unknown_subject(const std::string& reason) {
  Subject subject;
  subject.reason = reason;
  return subject;
}

struct Opened {
  Repository repository;  ///< nullptr if there is none, or Git refuses to use it
  std::string reason;     ///< then why
};

Opened open_repository(const fs::path& folder) {
  static const LibraryState kState;
  git_repository* repository = nullptr;
  const std::string start = folder.empty() ? "." : folder.string();
  const int code = git_repository_open_ext(&repository, start.c_str(), 0, nullptr);
  if (code == 0) return {Repository(repository), ""};
  const std::string reason = last_error();
  // libgit2 1.5 hides this refusal behind its look-up of safe.directory; the words are the git program's.
  if (code == GIT_EOWNER || reason.find("safe.directory") != std::string::npos) {
    return {nullptr, fmt::format("detected dubious ownership in repository at '{}'", start)};
  }
  return {nullptr, reason};
}

/// Paths of Git end in '/' for a folder that is new as a whole.
bool is_in_a_store(std::string_view path) {
  return path.substr(0, 10) == "baselines/" || path.substr(0, 8) == "results/";
}

int note_change(const git_diff*, const git_diff_delta* delta, const char*, void* payload) {
  constexpr int kSkip = 1, kStop = GIT_EUSER;
  const char* path = delta->new_file.path ? delta->new_file.path : delta->old_file.path;
  if (is_in_a_store(path)) return kSkip;
  *static_cast<bool*>(payload) = true;
  return kStop;
}

/// A diff that stops at the first difference outside the stores, and says so in `differs`.
git_diff_options noting(bool& differs) {
  git_diff_options options;
  git_diff_options_init(&options, GIT_DIFF_OPTIONS_VERSION);
  options.notify_cb = note_change;
  options.payload = &differs;
  return options;
}

/// Index and work tree against `commit_tree`. Absent if Git cannot tell.
std::optional<bool> is_dirty(git_repository* repository, git_tree* commit_tree) {
  bool dirty = false;
  git_diff_options options = noting(dirty);
  // Recursing, because a new folder is otherwise reported even when it holds no file.
  options.flags = GIT_DIFF_INCLUDE_UNTRACKED | GIT_DIFF_RECURSE_UNTRACKED_DIRS | GIT_DIFF_INCLUDE_TYPECHANGE;
  options.ignore_submodules = GIT_SUBMODULE_IGNORE_UNTRACKED;
  git_diff* diff = nullptr;
  const int code = git_diff_tree_to_workdir_with_index(&diff, repository, commit_tree, &options);
  const Diff owner(diff);
  if (code != 0 && !dirty) return std::nullopt;
  return dirty;
}

fs::path nearest_existing(fs::path folder) {
  std::error_code error;
  while (!fs::exists(folder, error) && folder.has_relative_path()) folder = folder.parent_path();
  return folder;
}

/// A file's repository and its path from the top, which need not exist; no repository outside a work tree.
struct Inside {
  Repository repository;
  std::string path;
};

Inside place_in_tree(const fs::path& file) {
  std::error_code error;
  const fs::path folder = fs::weakly_canonical(fs::absolute(file).parent_path(), error);
  Inside inside{open_repository(nearest_existing(folder)).repository, {}};
  const char* top = inside.repository ? git_repository_workdir(inside.repository.get()) : nullptr;
  if (!top) return {};
  inside.path =
      (folder / file.filename()).lexically_relative(fs::weakly_canonical(top, error)).generic_string();
  return inside;
}

std::string no_commit_reason(git_repository* repository) {
  git_reference* reference = nullptr;
  if (git_reference_lookup(&reference, repository, "HEAD") != 0) return last_error();
  const Reference head(reference);
  const char* target = git_reference_symbolic_target(head.get());
  const std::string_view name = target ? target : "HEAD";
  constexpr std::string_view kBranches = "refs/heads/";
  const bool is_branch = name.substr(0, kBranches.size()) == kBranches;
  return fmt::format("your current branch '{}' does not have any commits yet",
                     is_branch ? name.substr(kBranches.size()) : name);
}

constexpr git_object_size_t kMostFileBytes = git_object_size_t{1} << 30;

/// What `expression` names, such as "HEAD~1:baselines", peeled to `type` (ANY: as it is); nullptr if there is
/// no such thing.
Tree named_object(git_repository* repository, const std::string& expression, git_object_t type) {
  git_object* object = nullptr;
  if (git_revparse_single(&object, repository, expression.c_str()) != 0) return nullptr;
  Tree found(object);
  if (type == GIT_OBJECT_ANY) return found;
  git_object* peeled = nullptr;
  return git_object_peel(&peeled, found.get(), type) == 0 ? Tree(peeled) : nullptr;
}

Repository repository_with(const fs::path& folder, const std::string& reference) {
  auto [repository, reason] = open_repository(folder);
  if (!repository) throw baseline_error(fmt::format("{}: {}", reference, reason));
  if (!named_object(repository.get(), reference, GIT_OBJECT_COMMIT)) {
    throw baseline_error(fmt::format("{}: no such commit, branch or tag in this repository", reference));
  }
  return std::move(repository);
}

int note_file(const char* root, const git_tree_entry* entry, void* payload) {
  if (git_tree_entry_type(entry) == GIT_OBJECT_BLOB) {
    static_cast<std::vector<std::string>*>(payload)->push_back(std::string(root) +
                                                               git_tree_entry_name(entry));
  }
  return 0;
}

}  // namespace

Subject inspect_tree(const fs::path& folder) {
  const auto [repository, reason] = open_repository(folder);
  if (!repository) return unknown_subject(reason);
  if (git_repository_is_bare(repository.get()))
    return unknown_subject("this operation must be run in a work tree");

  git_reference* reference = nullptr;
  const int code = git_repository_head(&reference, repository.get());
  const Reference head(reference);
  if (code == GIT_EUNBORNBRANCH) return unknown_subject(no_commit_reason(repository.get()));
  if (code != 0) return unknown_subject(last_error());

  git_object* object = nullptr;
  if (git_reference_peel(&object, head.get(), GIT_OBJECT_COMMIT) != 0) return unknown_subject(last_error());
  const Tree commit(object);
  git_object* tree_object = nullptr;
  if (git_object_peel(&tree_object, commit.get(), GIT_OBJECT_TREE) != 0) return unknown_subject(last_error());
  const Tree tree(tree_object);

  Subject subject;
  char hash[GIT_OID_HEXSZ + 1];
  subject.commit = git_oid_tostr(hash, sizeof hash, git_object_id(commit.get()));
  if (git_reference_is_branch(head.get())) subject.branch = git_reference_shorthand(head.get());
  subject.dirty = is_dirty(repository.get(), reinterpret_cast<git_tree*>(tree.get()));
  if (!subject.dirty) subject.reason = last_error();
  return subject;
}

std::optional<fs::path> tree_top(const fs::path& folder) {
  const Repository repository = open_repository(folder).repository;
  const char* top = repository ? git_repository_workdir(repository.get()) : nullptr;
  if (!top) return std::nullopt;
  const std::string_view path = top;
  return fs::path(path.size() > 1 ? path.substr(0, path.size() - 1) : path);  // Git's ends in '/'
}

bool has_uncommitted_changes(const fs::path& file) {
  std::error_code error;
  if (!fs::exists(fs::symlink_status(file, error))) return false;
  const Inside inside = place_in_tree(file);
  if (!inside.repository) return true;
  unsigned int flags = 0;
  if (git_status_file(&flags, inside.repository.get(), inside.path.c_str()) != 0) return true;
  return flags != GIT_STATUS_CURRENT;
}

bool merges_by_union(const fs::path& file) {
  const Inside inside = place_in_tree(file);
  if (!inside.repository) return true;
  const char* value = nullptr;
  const int code = git_attr_get(&value, inside.repository.get(), 0, inside.path.c_str(), "merge");
  return code == 0 && git_attr_value(value) == GIT_ATTR_VALUE_STRING && std::string_view(value) == "union";
}

std::string file_at(const fs::path& folder, const std::string& reference, const std::string& path) {
  const Repository repository = repository_with(folder, reference);
  const Tree object = named_object(repository.get(), reference + ":" + path, GIT_OBJECT_BLOB);
  if (!object) throw baseline_error(fmt::format("{}:{}: no such file in that commit", reference, path));
  const auto* blob = reinterpret_cast<const git_blob*>(object.get());
  const git_object_size_t bytes = git_blob_rawsize(blob);
  if (bytes > kMostFileBytes) throw baseline_error(fmt::format("{}:{}: larger than 1 GiB", reference, path));
  return {static_cast<const char*>(git_blob_rawcontent(blob)), static_cast<size_t>(bytes)};
}

std::vector<std::string> files_at(const fs::path& folder, const std::string& reference,
                                  const std::string& path) {
  const Repository repository = repository_with(folder, reference);
  const Tree tree = named_object(repository.get(), reference + ":" + path, GIT_OBJECT_TREE);
  std::vector<std::string> files;
  if (!tree) return files;
  git_tree_walk(reinterpret_cast<const git_tree*>(tree.get()), GIT_TREEWALK_PRE, note_file, &files);
  for (std::string& file : files) file.insert(0, path + "/");
  std::sort(files.begin(), files.end());
  return files;
}

std::optional<int64_t> commits_between(const fs::path& folder, const std::string& from,
                                       const std::string& to) {
  const Repository repository = open_repository(folder).repository;
  if (!repository) return std::nullopt;
  const Tree old_commit = named_object(repository.get(), from, GIT_OBJECT_COMMIT);
  const Tree new_commit = named_object(repository.get(), to, GIT_OBJECT_COMMIT);
  if (!old_commit || !new_commit) return std::nullopt;
  size_t ahead = 0, behind = 0;
  const int code = git_graph_ahead_behind(&ahead, &behind, repository.get(), git_object_id(new_commit.get()),
                                          git_object_id(old_commit.get()));
  return code == 0 ? std::optional(static_cast<int64_t>(ahead)) : std::nullopt;
}

std::optional<bool> have_same_files(const fs::path& folder, const std::string& one,
                                    const std::string& other) {
  const Repository repository = open_repository(folder).repository;
  if (!repository) return std::nullopt;
  const Tree old_tree = named_object(repository.get(), one, GIT_OBJECT_TREE);
  const Tree new_tree = named_object(repository.get(), other, GIT_OBJECT_TREE);
  if (!old_tree || !new_tree) return std::nullopt;
  bool differ = false;
  const git_diff_options options = noting(differ);
  git_diff* diff = nullptr;
  const int code = git_diff_tree_to_tree(&diff, repository.get(), reinterpret_cast<git_tree*>(old_tree.get()),
                                         reinterpret_cast<git_tree*>(new_tree.get()), &options);
  const Diff owner(diff);
  return code == 0 || differ ? std::optional(!differ) : std::nullopt;
}

std::string commit_of(const fs::path& folder, const std::string& reference) {
  const auto [repository, reason] = open_repository(folder);
  if (!repository) throw usage_error(fmt::format("{}: {}", reference, reason));
  const Tree commit = named_object(repository.get(), reference, GIT_OBJECT_COMMIT);
  if (!commit && named_object(repository.get(), reference, GIT_OBJECT_ANY)) {
    throw usage_error(fmt::format("{}: names a file or folder of a commit, not the commit", reference));
  }
  if (!commit) {
    throw usage_error(fmt::format(
        "{}: no such commit, branch or tag in this repository; see git log, or fetch it first", reference));
  }
  char hash[GIT_OID_HEXSZ + 1];
  return git_oid_tostr(hash, sizeof hash, git_object_id(commit.get()));
}

bool is_bisecting(const fs::path& folder) {
  const Repository repository = open_repository(folder).repository;
  if (!repository) return false;
  std::error_code ignored;
  return fs::exists(fs::path(git_repository_path(repository.get())) / "BISECT_LOG", ignored);
}

}  // namespace flopmark
