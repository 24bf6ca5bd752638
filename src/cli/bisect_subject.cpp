#include "cli/bisect_subject.h"

#include <fmt/format.h>

#include "cli/ab_sides.h"
#include "compare/calibration_file.h"
#include "config/run_config.h"
#include "flopmark/error.h"
#include "hardware/environment.h"
#include "launch/artifact_cache.h"
#include "launch/build_command.h"
#include "launch/find_range.h"
#include "launch/launch.h"
#include "results/git.h"
#include "results/peak_files.h"

namespace flopmark {
namespace {

namespace fs = std::filesystem;

constexpr size_t kHashDigits = 16;

/// The folder with .git in it, which libgit2 does not tell of a tree that it refuses.
fs::path top_above(const fs::path& folder) {
  std::error_code ignored;
  for (fs::path at = folder; !at.empty(); at = at.parent_path()) {
    if (fs::exists(at / ".git", ignored)) return at;
    if (at == at.root_path()) break;
  }
  return folder;
}

/// Why there is no work tree to take commits from, and what to do.
[[noreturn]] void refuse_tree(const fs::path& folder) {
  const std::string reason = inspect_tree(folder).reason.value_or("no work tree");
  std::string advice = "; stand in the tree whose commits are to be searched";
  if (reason.find("dubious ownership") != std::string::npos) {
    advice = fmt::format("; if you trust it: git config --global --add safe.directory {}",
                         top_above(folder).string());
  } else if (reason.find("work tree") != std::string::npos) {
    advice = fmt::format("; it is bare: bisect in a clone of it, git clone {}", folder.string());
  }
  throw usage_error(fmt::format("no commits to build in {}: {}{}", folder.string(), reason, advice));
}

/// As git takes a path: from where one stands, where that is in the tree; else from its top.
std::string path_in_tree(const std::string& path, const fs::path& top) {
  if (path.empty()) return path;
  const auto here = tree_top(fs::current_path());
  const fs::path from = here && *here == top ? fs::current_path() : top;
  std::error_code ignored;
  const fs::path inside =
      (from / path).lexically_normal().lexically_relative(fs::weakly_canonical(top, ignored));
  if (!inside.empty() && *inside.begin() != "..") return inside.string();
  throw usage_error(fmt::format("--path {}: does not lie in the tree {}", path, top.string()));
}

/// The last journal of this tree and config, whatever it was about; empty if there is none.
fs::path last_journal(const fs::path& folder, const std::string& begin, const std::string& end) {
  fs::path last;
  fs::file_time_type last_time = fs::file_time_type::min();
  std::error_code error;
  for (fs::directory_iterator at(folder, error), none; !error && at != none; at.increment(error)) {
    const std::string name = at->path().filename().string();
    std::error_code missing;
    const auto time = fs::last_write_time(at->path(), missing);
    const bool is_this_name = name.size() == begin.size() + kHashDigits + end.size();
    if (missing || !is_this_name || time < last_time || !name.starts_with(begin) || !name.ends_with(end))
      continue;
    last = at->path();
    last_time = time;
  }
  return last;
}

}  // namespace

BisectSubject find_subject(const BisectOptions& options, const fs::path& scratch) {
  BisectSubject subject;
  subject.inputs.config = load_config(options.config, options.sets);
  refuse_second_pass(subject.inputs.config, options.config, "flopmark bisect");
  subject.inputs.host = host_environment();
  subject.inputs.peaks = load_peak_sources({});
  subject.top = compared_tree(options.config);
  if (subject.top.empty()) refuse_tree(fs::current_path());
  subject.artifact = options.artifact;
  if (subject.artifact.empty()) subject.artifact = default_artifact(subject.inputs.config, subject.top);
  if (is_model_file(subject.artifact)) artifact_keys(subject.inputs.config, subject.artifact);  // or 200
  if (!options.worker.empty() && !is_model_file(subject.artifact)) {
    throw usage_error(
        fmt::format("--worker has no use: what is measured is {}, a worker itself; leave it out",
                    subject.artifact.string()));
  }
  const RangeRequest request{subject.top, options.good, options.bad, path_in_tree(options.path, subject.top),
                             options.first_parent};
  subject.range = find_range(request, GitProgram(subject.top, scratch));
  return subject;
}

Journal open_journal(const BisectOptions& options, const BisectSubject& subject) {
  const JournalSubject about{
      {"good commit", subject.range.good},
      {"bad commit", subject.range.bad},
      {"path", options.path},
      {"history", options.first_parent ? "first parents" : "all parents"},
      {"build command", options.build},
      {"artifact", subject.artifact.string()},
      {"config (a hash of its keys)", calibration_key(subject.inputs.config)},
      {"worker", is_model_file(subject.artifact) ? find_worker(options.worker).string() : "of each commit"},
      {"CPU", subject.inputs.host.cpu_model.value_or("unknown")},
  };
  const fs::path folder = artifact_cache(build_cache());
  make_cache_folder(folder);
  std::string all;
  for (const auto& [name, value] : about) all += name + "=" + value + "\n";
  const std::string begin = fmt::format("{:016x}-", text_hash(subject.top.string()));
  const std::string end = fmt::format("-{}.jsonl", subject.inputs.config.name);
  const fs::path file = folder / fmt::format("{}{:016x}{}", begin, text_hash(all), end);
  if (!options.resume) return Journal::begin(file, about);
  const fs::path last = fs::exists(file) ? fs::path() : last_journal(folder, begin, end);
  return Journal::resume(last.empty() ? file : last, about);  // another's says what differs
}

}  // namespace flopmark
