#include "launch/reference_build.h"

#include <gmock/gmock.h>

#include "flopmark/error.h"
#include "results/git.h"
#include "unit/results/scratch_tree.h"

namespace flopmark {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

/// A tree with two commits of code.txt, and builds that copy it to out/made.
class ReferenceBuild : public ::testing::Test {
 protected:
  void SetUp() override {
    old_ = commit_of(tree_.root(), "HEAD");
    tree_.write("code.txt", "second\n");
    tree_.commit("second");
  }

  BuildRequest request(const std::string& commit,
                       const std::string& command = "mkdir out; cp code.txt out/made") {
    BuildRequest made;
    made.top = tree_.root();
    made.commit = commit;
    made.command = command;
    made.artifact = "out/made";
    made.cache = cache_.root() / "builds";
    made.scratch = scratch_.root();
    made.builds = [this](const std::string&) { ++builds_; };
    return made;
  }
  std::string error_of(const BuildRequest& request, ExitCode code) {
    try {
      build_reference(request);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), code);
      return error.what();
    }
    ADD_FAILURE() << "no error";
    return "";
  }
  /// Everything of the user's that must stay as it is.
  std::string state() const {
    std::string all = file_text(tree_.root() / ".git/HEAD") + file_text(tree_.root() / "code.txt") +
                      file_text(tree_.root() / ".git/index");
    for (const auto& entry : fs::recursive_directory_iterator(tree_.root() / ".git/refs")) {
      all += entry.path().string();
    }
    std::error_code none;
    all += fs::exists(tree_.root() / ".git/worktrees", none) && !fs::is_empty(tree_.root() / ".git/worktrees")
               ? "worktrees"
               : "";
    return all;
  }

  ScratchTree tree_;
  ScratchFolder cache_, scratch_;
  std::string old_;
  int builds_ = 0;
};

TEST_F(ReferenceBuild, BuildsTheCommitAndTouchesNothingOfTheUsers) {
  const std::string before = state();
  const BuiltReference built = build_reference(request(old_));
  EXPECT_EQ(file_text(built.artifact), "first\n");
  EXPECT_EQ(built.commit, old_);
  EXPECT_EQ(state(), before);
  EXPECT_FALSE(fs::exists(built.artifact.parent_path().parent_path() / ".git"));
}

TEST_F(ReferenceBuild, IsMadeOncePerCommitAndCommand) {
  const BuiltReference first = build_reference(request(old_));
  EXPECT_EQ(build_reference(request(old_)).artifact, first.artifact);
  EXPECT_EQ(builds_, 1);
  build_reference(request(old_, "mkdir -p out; cp code.txt out/made"));
  build_reference(request(commit_of(tree_.root(), "HEAD")));
  EXPECT_EQ(builds_, 3);
}

TEST_F(ReferenceBuild, TheCheckedOutTreeIsBuiltWithItsChanges) {
  const BuiltReference clean = build_reference(request(""));
  EXPECT_EQ(clean.commit, commit_of(tree_.root(), "HEAD"));
  EXPECT_EQ(file_text(clean.artifact), "second\n");
  tree_.write("code.txt", "changed\n");
  tree_.write("new.txt", "new\n");
  tree_.write("results/record.json", "{}");
  const std::string before = state();
  const BuildRequest with_new = request("", "mkdir out; cat code.txt new.txt > out/made; ! ls results");
  const BuiltReference dirty = build_reference(with_new);
  EXPECT_EQ(file_text(dirty.artifact), "changed\nnew\n");
  EXPECT_NE(dirty.commit, clean.commit);
  EXPECT_EQ(state(), before);
  EXPECT_EQ(build_reference(with_new).commit, dirty.commit);  // the same state is the same build
  EXPECT_EQ(builds_, 2);
}

TEST_F(ReferenceBuild, AFailingBuildShowsItsLastLinesAndItsLog) {
  const std::string before = state();
  const std::string text =
      error_of(request(old_, "echo compiling; echo oops >&2; exit 2"), ExitCode::cannot_judge);
  EXPECT_THAT(text, AllOf(HasSubstr(old_.substr(0, 10)), HasSubstr("ended with exit code 2"),
                          HasSubstr("\n  compiling\n  oops"), EndsWith("build.log")));
  EXPECT_EQ(file_text(text.substr(text.find("log: ") + 5)), "compiling\noops\n");
  EXPECT_EQ(state(), before);
  for (const auto& entry : fs::recursive_directory_iterator(cache_.root()))
    EXPECT_NE(entry.path().filename(), "tree");
  error_of(request(old_, "echo compiling; echo oops >&2; exit 2"), ExitCode::cannot_judge);
  EXPECT_EQ(builds_, 2);  // a failure is not kept
}

TEST_F(ReferenceBuild, WithoutItsArtifactItFails) {
  EXPECT_THAT(error_of(request(old_, "true"), ExitCode::cannot_judge),
              AllOf(HasSubstr("it made no out/made"), HasSubstr("--artifact")));
}

TEST_F(ReferenceBuild, RunsNoHookOfTheRepository) {
  const fs::path hook =
      tree_.write(".git/hooks/post-checkout", "#!/bin/sh\ntouch '" + tree_.root().string() + "/ran'\n");
  fs::permissions(hook, fs::perms::owner_all);
  build_reference(request(old_));
  EXPECT_FALSE(fs::exists(tree_.root() / "ran"));
}

TEST_F(ReferenceBuild, IsNotLedAstrayByAGitThatCallsUs) {
  ::setenv("GIT_DIR", "/nowhere", 1);
  ::setenv("GIT_INDEX_FILE", "/nowhere/index", 1);
  const BuildRequest of_commit = request(old_, "test -z \"$GIT_DIR\" && mkdir out && cp code.txt out/made");
  EXPECT_EQ(file_text(build_reference(of_commit).artifact), "first\n");
  ::unsetenv("GIT_DIR");
  ::unsetenv("GIT_INDEX_FILE");
}

TEST_F(ReferenceBuild, AnInterruptionLeavesNoWorktree) {
  const std::string before = state();
  BuildRequest slow = request(old_, "touch '" + (scratch_.root() / "started").string() + "'; sleep 1000");
  slow.interrupted = [&] { return fs::exists(scratch_.root() / "started"); };
  error_of(slow, ExitCode::interrupted);
  EXPECT_EQ(state(), before);
}

TEST_F(ReferenceBuild, AWorktreeLeftByAKilledRunIsReplaced) {
  const BuiltReference built = build_reference(request(old_));
  const fs::path tree = built.artifact.parent_path().parent_path();
  fs::remove(tree.parent_path() / "done");
  fs::remove_all(tree);
  ASSERT_TRUE(git(tree_.root(), "worktree add --detach '" + tree.string() + "' " + old_));
  EXPECT_EQ(file_text(build_reference(request(old_)).artifact), "first\n");
}

TEST_F(ReferenceBuild, OldBuildsMakeRoom) {
  for (int i = 0; i < 18; ++i) {
    build_reference(request(old_, "mkdir out; cp code.txt out/made; : " + std::to_string(i)));
  }
  size_t kept = 0;
  for (const auto& entry : fs::directory_iterator(cache_.root() / "builds"))
    kept += fs::exists(entry.path() / "done");
  EXPECT_EQ(kept, 16u);
}

}  // namespace
}  // namespace flopmark
