#include "results/git.h"

#include <gmock/gmock.h>

#include "flopmark/error.h"
#include "unit/results/scratch_tree.h"

namespace flopmark {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::MatchesRegex;

void expect_unknown(const Subject& subject, const std::string& reason) {
  EXPECT_FALSE(subject.commit.has_value());
  EXPECT_FALSE(subject.dirty.has_value());
  EXPECT_FALSE(subject.branch.has_value());
  ASSERT_TRUE(subject.reason.has_value());
  EXPECT_THAT(*subject.reason, HasSubstr(reason));
}

TEST(InspectTree, CleanTree) {
  const ScratchTree tree;
  const Subject subject = inspect_tree(tree.root());
  EXPECT_THAT(subject.commit.value(), MatchesRegex("[0-9a-f]{40}"));
  EXPECT_EQ(subject.commit.value() + "\n", file_text(tree.root() / ".git/refs/heads/main"));
  EXPECT_EQ(subject.dirty, false);
  EXPECT_EQ(subject.branch, "main");
  EXPECT_FALSE(subject.reason.has_value());
}

TEST(InspectTree, FromAFolderInside) {
  const ScratchTree tree;
  tree.write("a/b/file.txt", "x");
  tree.commit("deeper");
  EXPECT_EQ(inspect_tree(tree.root() / "a/b").commit, inspect_tree(tree.root()).commit);
  EXPECT_EQ(tree_top(tree.root() / "a/b"), tree.root());
}

TEST(InspectTree, BranchNamesMayHoldSlashes) {
  const ScratchTree tree;
  ASSERT_TRUE(git(tree.root(), "checkout -q -b users/someone/faster"));
  EXPECT_EQ(inspect_tree(tree.root()).branch, "users/someone/faster");
}

TEST(InspectTree, DetachedHasNoBranch) {
  const ScratchTree tree;
  ASSERT_TRUE(git(tree.root(), "checkout -q --detach"));
  const Subject subject = inspect_tree(tree.root());
  EXPECT_TRUE(subject.commit.has_value());
  EXPECT_EQ(subject.dirty, false);
  EXPECT_FALSE(subject.branch.has_value());
}

TEST(InspectTree, EveryKindOfChangeIsDirt) {
  const ScratchTree tree;
  tree.write("code.txt", "second\n");
  EXPECT_EQ(inspect_tree(tree.root()).dirty, true) << "modified";
  ASSERT_TRUE(git(tree.root(), "add -A"));
  EXPECT_EQ(inspect_tree(tree.root()).dirty, true) << "staged";
  ASSERT_TRUE(git(tree.root(), "reset -q --hard"));
  EXPECT_EQ(inspect_tree(tree.root()).dirty, false);
  fs::remove(tree.root() / "code.txt");
  EXPECT_EQ(inspect_tree(tree.root()).dirty, true) << "deleted";
  ASSERT_TRUE(git(tree.root(), "reset -q --hard"));
  tree.write("new/file.txt", "x");
  EXPECT_EQ(inspect_tree(tree.root()).dirty, true) << "untracked";
}

TEST(InspectTree, StagedThenRevertedIsDirt) {
  const ScratchTree tree;
  tree.write("code.txt", "second\n");
  ASSERT_TRUE(git(tree.root(), "add -A"));
  tree.write("code.txt", "first\n");
  EXPECT_EQ(inspect_tree(tree.root()).dirty, true);
}

TEST(InspectTree, StoresAndIgnoredFilesAreNoDirt) {
  const ScratchTree tree;
  tree.write(".gitignore", "*.log\n");  // results/ not ignored
  tree.write("baselines/old.json", "{}");
  tree.commit("baseline");
  tree.write("baselines/old.json", "{ }");
  tree.write("baselines/new/one.json", "{}");
  tree.write("results/run/one.json", "{}");
  tree.write("trace.log", "x");
  fs::create_directories(tree.root() / "empty/folder");
  EXPECT_EQ(inspect_tree(tree.root()).dirty, false);
  tree.write("src/baselines/code.txt", "x");
  EXPECT_EQ(inspect_tree(tree.root()).dirty, true) << "only those at the top";
}

TEST(InspectTree, FilesThatOnlyStartLikeAStoreAreDirt) {
  const ScratchTree tree;
  tree.write("baselines.txt", "x");
  EXPECT_EQ(inspect_tree(tree.root()).dirty, true);
}

TEST(InspectTree, SubmoduleAtAnotherCommitIsDirt) {
  const ScratchTree library, tree;
  ASSERT_TRUE(git(tree.root(),
                  "-c protocol.file.allow=always submodule add -q '" + library.root().string() + "' lib"));
  tree.commit("submodule");
  EXPECT_EQ(inspect_tree(tree.root()).dirty, false);
  tree.write("lib/code.txt", "second\n");
  ASSERT_TRUE(git(tree.root() / "lib", "commit -q -a -m second"));
  EXPECT_EQ(inspect_tree(tree.root()).dirty, true);
}

TEST(InspectTree, NoRepository) {
  const ScratchFolder folder;
  expect_unknown(inspect_tree(folder.root()), "could not find repository");
  EXPECT_FALSE(tree_top(folder.root()).has_value());
}

TEST(InspectTree, MissingFolder) {
  const ScratchFolder folder;
  expect_unknown(inspect_tree(folder.root() / "nowhere"), "No such file or directory");
}

TEST(InspectTree, NoCommitYet) {
  const ScratchFolder folder;
  ASSERT_TRUE(git(folder.root(), "init -q -b trunk"));
  expect_unknown(inspect_tree(folder.root()), "your current branch 'trunk' does not have any commits yet");
  EXPECT_EQ(tree_top(folder.root()), folder.root());
}

TEST(InspectTree, BareRepository) {
  const ScratchFolder folder;
  ASSERT_TRUE(git(folder.root(), "init -q --bare"));
  expect_unknown(inspect_tree(folder.root()), "must be run in a work tree");
  EXPECT_FALSE(tree_top(folder.root()).has_value());
}

TEST(InspectTree, BrokenRepository) {
  const ScratchTree tree;
  tree.write(".git/HEAD", "nonsense");
  expect_unknown(inspect_tree(tree.root()), "");
}

TEST(InspectTree, BrokenIndexLeavesTheCommit) {
  const ScratchTree tree;
  tree.write(".git/index", "nonsense");
  const Subject subject = inspect_tree(tree.root());
  EXPECT_TRUE(subject.commit.has_value());
  EXPECT_FALSE(subject.dirty.has_value());
  EXPECT_TRUE(subject.reason.has_value());
}

TEST(InspectTree, TreeOfAnotherUserIsRefusedInGitsWords) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a folder away";
  const ScratchTree tree;
  ASSERT_EQ(chown((tree.root() / ".git").c_str(), 12345, 12345), 0);
  ASSERT_EQ(chown(tree.root().c_str(), 12345, 12345), 0);
  expect_unknown(inspect_tree(tree.root()), "detected dubious ownership");
  EXPECT_FALSE(tree_top(tree.root()).has_value());
}

/// What a hostile repository would have Git run, it does not get run.
TEST(InspectTree, RunsNothingOfTheRepository) {
  const ScratchTree tree;
  const fs::path mark = tree.root() / "ran.log";
  const fs::path script = tree.write(".git/run-me", "#!/bin/sh\ntouch '" + mark.string() + "'\ncat\n");
  fs::permissions(script, fs::perms::owner_all);
  for (const char* key :
       {"core.fsmonitor", "filter.evil.clean", "filter.evil.smudge", "diff.external", "core.pager"}) {
    ASSERT_TRUE(git(tree.root(), std::string("config ") + key + " '" + script.string() + "'"));
  }
  fs::create_directories(tree.root() / ".git/hooks");
  fs::copy_file(script, tree.root() / ".git/hooks/post-index-change");
  tree.write(".git/info/attributes", "* filter=evil diff=evil\n");
  tree.write("code.txt", "fiRst\n");
  EXPECT_EQ(inspect_tree(tree.root()).dirty, true);
  EXPECT_FALSE(fs::exists(mark));
}

TEST(UncommittedChanges, OfOneFile) {
  const ScratchTree tree;
  const fs::path file = tree.root() / "code.txt";
  EXPECT_FALSE(has_uncommitted_changes(file));
  tree.write("other.txt", "x");
  EXPECT_FALSE(has_uncommitted_changes(file)) << "another file's change";
  tree.write("code.txt", "second\n");
  EXPECT_TRUE(has_uncommitted_changes(file));
  ASSERT_TRUE(git(tree.root(), "add code.txt"));
  EXPECT_TRUE(has_uncommitted_changes(file)) << "staged is not committed";
  tree.commit("second");
  EXPECT_FALSE(has_uncommitted_changes(file));
}

TEST(UncommittedChanges, OfNewIgnoredMissingAndForeignFiles) {
  const ScratchTree tree;
  EXPECT_TRUE(has_uncommitted_changes(tree.write("a/new.txt", "x")));
  EXPECT_TRUE(has_uncommitted_changes(tree.write("a/trace.log", "x"))) << "ignored, so in no commit";
  EXPECT_FALSE(has_uncommitted_changes(tree.root() / "missing/file.txt"));
  const ScratchFolder outside;
  EXPECT_TRUE(has_uncommitted_changes(outside.write("file.txt", "x")));
}

TEST(UncommittedChanges, ThroughALinkedFolder) {
  const ScratchTree tree;
  const ScratchFolder elsewhere;
  fs::create_directory_symlink(tree.root(), elsewhere.root() / "link");
  EXPECT_FALSE(has_uncommitted_changes(elsewhere.root() / "link" / "code.txt"));
}

TEST(UnionMerge, FollowsTheAttributesOfTheTree) {
  const ScratchTree tree;
  const fs::path file = tree.root() / "baselines/README.md";
  EXPECT_FALSE(merges_by_union(file));
  tree.write("baselines/.gitattributes", "README.md merge=union\n");
  EXPECT_TRUE(merges_by_union(file));
  EXPECT_FALSE(merges_by_union(tree.root() / "baselines/other.md"));
  const ScratchFolder outside;
  EXPECT_TRUE(merges_by_union(outside.root() / "README.md")) << "nothing is merged there";
}

TEST(GitFiles, AreReadAsTheyWereCommitted) {
  const ScratchTree tree;
  tree.write("baselines/1x-a/one.json", "first\n");
  tree.commit("baseline");
  tree.write("baselines/1x-a/one.json", "second\n");
  tree.write("baselines/1x-b/one.json", "other\n");
  tree.commit("another");
  tree.write("baselines/1x-a/one.json", "not committed\n");
  EXPECT_EQ(file_at(tree.root(), "HEAD", "baselines/1x-a/one.json"), "second\n");
  EXPECT_EQ(file_at(tree.root() / "baselines", "HEAD~1", "baselines/1x-a/one.json"), "first\n");
  EXPECT_EQ(files_at(tree.root(), "main", "baselines"),
            (std::vector<std::string>{"baselines/1x-a/one.json", "baselines/1x-b/one.json"}));
  EXPECT_TRUE(files_at(tree.root(), "HEAD~2", "baselines").empty());
}

TEST(GitFiles, ThatAreNotThereAreNamed) {
  const ScratchTree tree;
  const auto text_of_error = [&](const std::string& reference, const std::string& path) -> std::string {
    try {
      file_at(tree.root(), reference, path);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::baseline);
      return error.what();
    }
    return "read";
  };
  EXPECT_EQ(text_of_error("HEAD", "code.txt"), "read");
  EXPECT_EQ(text_of_error("HEAD", "none.txt"), "HEAD:none.txt: no such file in that commit");
  EXPECT_EQ(text_of_error("HEAD~9", "code.txt"), "HEAD~9: no such commit, branch or tag in this repository");
  EXPECT_EQ(text_of_error("-x", "code.txt"), "-x: no such commit, branch or tag in this repository");
  EXPECT_THROW(file_at("/", "HEAD", "code.txt"), Error);
}

/// What commit_of says of it.
std::string commit_refusal(const ScratchTree& tree, const std::string& reference) {
  try {
    return commit_of(tree.root(), reference);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return error.what();
  }
}

TEST(CommitOf, NamesACommitOrSaysThatThereIsNone) {
  const ScratchTree tree;
  const std::string commit = inspect_tree(tree.root()).commit.value();
  for (const char* reference : {"HEAD", "main", "@"}) EXPECT_EQ(commit_of(tree.root(), reference), commit);
  EXPECT_EQ(commit_of(tree.root(), commit.substr(0, 8)), commit);
  for (const char* reference : {"nowhere", "HEAD~7", "", "--all", "HEAD:none.txt"}) {
    EXPECT_THAT(commit_refusal(tree, reference),
                HasSubstr(std::string(reference) + ": no such commit, branch or tag"));
  }
  for (const char* reference : {"HEAD^{tree}", "HEAD:code.txt"}) {
    EXPECT_THAT(commit_refusal(tree, reference),
                HasSubstr(std::string(reference) + ": names a file or folder"));
  }
  const ScratchFolder outside;
  EXPECT_THROW(commit_of(outside.root(), "HEAD"), Error);
}

TEST(CommitsBetween, AreThoseOfOneSideOnly) {
  const ScratchTree tree;
  ASSERT_TRUE(git(tree.root(), "checkout -q -b side"));
  tree.write("side.txt", "1");
  tree.commit("side");
  ASSERT_TRUE(git(tree.root(), "checkout -q main"));
  for (int i = 0; i < 2; ++i) {
    tree.write("main.txt", std::to_string(i));
    tree.commit("main");
  }
  EXPECT_EQ(commits_between(tree.root(), "main~2", "main"), 2);
  EXPECT_EQ(commits_between(tree.root(), "main", "main~2"), 0);
  EXPECT_EQ(commits_between(tree.root(), "side", "main"), 2);
  EXPECT_FALSE(commits_between(tree.root(), "nowhere", "main").has_value());
  EXPECT_FALSE(commits_between(tree.root(), "main", "").has_value());
  const ScratchFolder outside;
  EXPECT_FALSE(commits_between(outside.root(), "main", "main").has_value());
}

TEST(HaveSameFiles, OutsideTheStoresOfTheTop) {
  const ScratchTree tree;
  tree.write("baselines/x.json", "{}");
  tree.commit("a baseline");
  EXPECT_EQ(have_same_files(tree.root(), "HEAD~1", "HEAD"), true);
  tree.write("src/baselines/x.json", "{}");
  tree.commit("a file");
  EXPECT_EQ(have_same_files(tree.root(), "HEAD~1", "HEAD"), false);
  EXPECT_EQ(have_same_files(tree.root(), "HEAD", "HEAD"), true);
  EXPECT_FALSE(have_same_files(tree.root(), "HEAD", "").has_value());
  EXPECT_FALSE(have_same_files(tree.root(), "nowhere", "HEAD").has_value());
  const ScratchFolder outside;
  EXPECT_FALSE(have_same_files(outside.root(), "HEAD", "HEAD").has_value());
}

TEST(IsBisecting, FromStartToResetAlsoInALinkedTree) {
  const ScratchTree tree;
  const ScratchFolder linked;
  ASSERT_TRUE(git(tree.root(), "worktree add -q '" + (linked.root() / "tree").string() + "'"));
  EXPECT_FALSE(is_bisecting(tree.root()));
  ASSERT_TRUE(git(tree.root(), "bisect start"));
  EXPECT_TRUE(is_bisecting(tree.root()));
  EXPECT_FALSE(is_bisecting(linked.root() / "tree")) << "only where it runs";
  ASSERT_TRUE(git(tree.root(), "bisect reset"));
  EXPECT_FALSE(is_bisecting(tree.root()));
  ASSERT_TRUE(git(linked.root() / "tree", "bisect start"));
  EXPECT_TRUE(is_bisecting(linked.root() / "tree"));
  EXPECT_FALSE(is_bisecting(linked.root()));
}

}  // namespace
}  // namespace flopmark
