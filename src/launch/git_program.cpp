#include "launch/git_program.h"

#include <fmt/format.h>

#include <fstream>
#include <iterator>
#include <system_error>

#include "flopmark/error.h"
#include "launch/printable_text.h"

namespace flopmark {
namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string without_end(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  return text;
}

}  // namespace

std::vector<std::string> variables_of_repositories() {
  return {"GIT_DIR",
          "GIT_WORK_TREE",
          "GIT_COMMON_DIR",
          "GIT_INDEX_FILE",
          "GIT_PREFIX",
          "GIT_OBJECT_DIRECTORY",
          "GIT_ALTERNATE_OBJECT_DIRECTORIES",
          "GIT_SHALLOW_FILE",
          "GIT_GRAFT_FILE",
          "GIT_NAMESPACE"};
}

GitProgram::GitProgram(fs::path top, fs::path scratch, std::function<bool()> interrupted)
    : top_(std::move(top)), scratch_(std::move(scratch)), interrupted_(std::move(interrupted)) {}

GitProgram::Answer GitProgram::run(const std::vector<std::string>& arguments, const Variables& set) const {
  Program program;
  program.command = {"git",       "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false",     "-c",
                     "gc.auto=0", "-c", "maintenance.auto=false",   "-c", "advice.detachedHead=false"};
  program.command.insert(program.command.end(), arguments.begin(), arguments.end());
  program.folder = top_;
  program.log = scratch_ / "git.txt";
  program.error_log = scratch_ / "git-errors.txt";
  // Never the repository around a worktree that is none any more.
  program.set = {{"GIT_TERMINAL_PROMPT", "0"},
                 {"LC_ALL", "C"},
                 {"GIT_CEILING_DIRECTORIES", top_.parent_path().string()}};
  program.set.insert(program.set.end(), set.begin(), set.end());
  program.unset = variables_of_repositories();
  program.interrupted = interrupted_;
  std::error_code ignored;
  fs::remove(program.log, ignored);
  fs::remove(program.error_log, ignored);
  const ProgramEnd end = run_program(program);
  if (end.interrupted) throw Error(ExitCode::interrupted, "interrupted");
  return {end.code, end.ok(), without_end(text_of(program.log)), without_end(text_of(program.error_log))};
}

GitProgram::Answer GitProgram::ask(const std::vector<std::string>& arguments) const {
  return run(arguments, {});
}

std::string GitProgram::output_of(const std::vector<std::string>& arguments, const Variables& set) const {
  Answer answer = run(arguments, set);
  if (!answer.ok) {
    throw judge_error(fmt::format("git {}: {}", arguments.front(), printable_text(answer.errors, 2000)));
  }
  return std::move(answer.text);
}

std::string GitProgram::output_of(const std::vector<std::string>& arguments) const {
  return output_of(arguments, {});
}

std::string GitProgram::snapshot(const std::string& head) const {
  const fs::path index = scratch_ / "index";
  std::error_code ignored;
  fs::remove(index, ignored);
  const Variables own_index{{"GIT_INDEX_FILE", index.string()}};
  output_of({"read-tree", head}, own_index);
  output_of({"add", "--all"}, own_index);
  output_of({"reset", "--quiet", head, "--", ":(top)baselines", ":(top)results"}, own_index);
  const std::string tree = output_of({"write-tree"}, own_index);
  Variables author;
  for (const char* who : {"AUTHOR", "COMMITTER"}) {
    author.emplace_back(fmt::format("GIT_{}_NAME", who), "flopmark");
    author.emplace_back(fmt::format("GIT_{}_EMAIL", who), "flopmark@localhost");
    author.emplace_back(fmt::format("GIT_{}_DATE", who), "2000-01-01T00:00:00Z");
  }
  return output_of({"commit-tree", "--no-gpg-sign", "-p", head, "-m", "the work tree as measured", tree},
                   author);
}

void GitProgram::add_worktree(const fs::path& folder, const std::string& commit) const {
  output_of({"worktree", "add", "--force", "--force", "--detach", folder.string(), commit});
}

void GitProgram::adopt_worktree(const fs::path& folder, const std::string& commit) const {
  // git makes worktrees in empty folders only.
  const fs::path aside = folder.string() + ".kept";
  fs::rename(folder, aside);
  output_of({"worktree", "add", "--force", "--force", "--detach", "--no-checkout", folder.string(), commit});
  fs::rename(folder / ".git", aside / ".git");
  fs::remove(folder);
  fs::rename(aside, folder);
}

void GitProgram::forget_worktree(const fs::path& folder, bool keep_files) const noexcept {
  try {
    // git forgets a worktree whose folder is gone, and without that would remove the files with it.
    const fs::path aside = folder.string() + ".kept";
    if (keep_files) fs::rename(folder, aside);
    const GitProgram always(top_, scratch_);  // also after an interruption
    always.output_of({"worktree", "remove", "--force", "--force", folder.string()});
    if (!keep_files) return;
    fs::rename(aside, folder);
    fs::remove(folder / ".git");
  } catch (const std::exception&) {
    // What is left is in our own cache folder, and git prunes entries whose folder is gone by itself.
    std::error_code ignored;
    if (!keep_files) fs::remove_all(folder, ignored);
  }
}

}  // namespace flopmark
