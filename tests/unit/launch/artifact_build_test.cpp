#include "launch/artifact_build.h"

#include <gmock/gmock.h>

#include "flopmark/error.h"
#include "launch/build_command.h"
#include "results/git.h"
#include "unit/launch/launch_fixture.h"
#include "unit/results/scratch_tree.h"

namespace flopmark {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

/// A tree with commits of code.txt; a build copies it to out/made, which is ignored.
class ArtifactBuild : public ::testing::Test {
 protected:
  void SetUp() override {
    tree_.write(".gitignore", "/out/\n");
    first_ = commit("code.txt", "first\n");
    second_ = commit("code.txt", "second\n");
  }
  std::string commit(const std::string& file, const std::string& text) const {
    tree_.write(file, text);
    tree_.commit(text);
    return commit_of(tree_.root(), "HEAD");
  }
  ArtifactPlan plan(const std::string& command = "mkdir -p out; cp code.txt out/made") {
    ArtifactPlan made;
    made.top = tree_.root();
    made.command = command;
    made.artifact = "out/made";
    made.cache = cache_.root() / "builds";
    made.scratch = scratch_.root();
    made.builds = [this](const std::string&) { ++builds_; };
    return made;
  }
  static std::string error_of(ArtifactBuilder& builder, const std::string& commit, ExitCode code) {
    try {
      builder.build(commit);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), code) << error.what();
      return error.what();
    }
    ADD_FAILURE() << "no error";
    return "";
  }
  /// Everything of the user's that must stay as it is.
  std::string state() const {
    std::string all;
    for (const char* file : {".git/HEAD", ".git/index", ".git/config", "code.txt"}) {
      all += file_text(tree_.root() / file);
    }
    for (const auto& entry : fs::recursive_directory_iterator(tree_.root() / ".git/refs")) {
      all += entry.path().string();
    }
    std::error_code none;
    const fs::path worktrees = tree_.root() / ".git/worktrees";
    return all + (fs::exists(worktrees, none) && !fs::is_empty(worktrees) ? "worktrees" : "");
  }

  ScratchTree tree_;
  ScratchFolder cache_, scratch_;
  std::string first_, second_;
  int builds_ = 0;
};

TEST_F(ArtifactBuild, KeepsWhatEachCommitMakes) {
  tree_.write("code.txt", "changed and not committed\n");
  const std::string before = state();
  {
    ArtifactBuilder builder(plan());
    const BuiltArtifact first = builder.build(first_), second = builder.build(second_);
    EXPECT_EQ(file_text(first.file), "first\n");
    EXPECT_EQ(file_text(second.file), "second\n");
    EXPECT_THAT(first.hash, ::testing::MatchesRegex("[0-9a-f]{40}"));
    EXPECT_NE(first.hash, second.hash);
    EXPECT_FALSE(first.from_cache);
    EXPECT_TRUE(builder.build(first_).from_cache);
    EXPECT_EQ(builder.build(first_).hash, first.hash);
    EXPECT_EQ(builder.build(first_).build_s, first.build_s);
  }
  EXPECT_EQ(state(), before);
  EXPECT_TRUE(ArtifactBuilder(plan()).build(second_).from_cache);
  EXPECT_EQ(builds_, 2);
}

TEST_F(ArtifactBuild, EqualSourcesGiveEqualBytesSinceThePathIsOne) {
  const std::string docs = commit("readme.md", "docs\n");
  ArtifactBuilder builder(plan("mkdir -p out; (pwd; cat code.txt) > out/made"));
  const std::string hash = builder.build(second_).hash;
  EXPECT_NE(builder.build(first_).hash, hash);
  EXPECT_EQ(builder.build(docs).hash, hash);
}

TEST_F(ArtifactBuild, GoesOnFromTheBuildBefore) {
  const std::string counted = "mkdir -p out; echo x >> out/count; cp out/count out/made";
  {
    ArtifactBuilder builder(plan(counted));
    builder.build(first_);
    EXPECT_EQ(file_text(builder.build(second_).file), "x\nx\n");
  }
  const std::string third = commit("code.txt", "third\n");
  EXPECT_EQ(file_text(ArtifactBuilder(plan(counted)).build(third).file), "x\nx\nx\n") << "also the next run";
}

TEST_F(ArtifactBuild, WhatIsNeitherCommittedNorIgnoredDoesNotStay) {
  const std::string added = commit("added.txt", "added\n");
  fs::remove(tree_.root() / "added.txt");
  const std::string removed = commit("code.txt", "third\n");
  const std::string list = "mkdir -p out; touch left.txt code.txt; ls > out/made";
  {
    ArtifactBuilder builder(plan(list));
    EXPECT_EQ(file_text(builder.build(added).file), "added.txt\ncode.txt\nleft.txt\nout\n");
  }
  ArtifactBuilder next(plan(list + " #"));  // another command has a tree of its own
  EXPECT_EQ(file_text(next.build(added).file), "added.txt\ncode.txt\nleft.txt\nout\n");
  EXPECT_EQ(file_text(next.build(removed).file), "code.txt\nleft.txt\nout\n");
  EXPECT_EQ(file_text(ArtifactBuilder(plan(list)).build(removed).file), "code.txt\nleft.txt\nout\n");
}

TEST_F(ArtifactBuild, ABuildThatLeavesTheOldArtifactMakesNone) {
  ArtifactBuilder builder(plan("mkdir -p out; grep -q second code.txt || cp code.txt out/made"));
  builder.build(first_);
  EXPECT_THAT(error_of(builder, second_, ExitCode::cannot_judge),
              AllOf(StartsWith("build of " + second_.substr(0, 10)), HasSubstr("it made no out/made")));
}

TEST_F(ArtifactBuild, ATrackedArtifactIsThatOfTheCommit) {
  ArtifactPlan tracked = plan("true");
  tracked.artifact = "code.txt";
  ArtifactBuilder builder(tracked);
  EXPECT_EQ(file_text(builder.build(first_).file), "first\n");
  EXPECT_EQ(file_text(builder.build(second_).file), "second\n");
  EXPECT_EQ(file_text(builder.build(first_).file), "first\n");
}

TEST_F(ArtifactBuild, AFailingBuildKeepsItsLogAndTheNextOneIsNotHindered) {
  ArtifactBuilder builder(
      plan("mkdir -p out; echo compiling; echo half >> code.txt; grep -q first code.txt && exit 2; cp "
           "code.txt out/made"));
  const std::string text = error_of(builder, first_, ExitCode::cannot_judge);
  EXPECT_THAT(text, AllOf(HasSubstr("ended with exit code 2"), EndsWith(builder.log(first_).string())));
  EXPECT_EQ(file_text(builder.log(first_)), "compiling\n");
  EXPECT_EQ(file_text(builder.build(second_).file), "second\nhalf\n");
  error_of(builder, first_, ExitCode::cannot_judge);
  EXPECT_EQ(builds_, 3) << "a failure is not kept";
}

TEST_F(ArtifactBuild, ABuildThatHangsIsStopped) {
  ArtifactPlan hanging = plan("sleep 1000 & echo $! > '" + (scratch_.root() / "child").string() + "'; wait");
  hanging.timeout_s = 1;
  ArtifactBuilder builder(hanging);
  EXPECT_THAT(error_of(builder, first_, ExitCode::cannot_judge), HasSubstr("was stopped after 1 s"));
  const pid_t child = std::stoi(file_text(scratch_.root() / "child"));
  EXPECT_TRUE(holds_soon([&] { return is_gone(child); }));
}

TEST_F(ArtifactBuild, AnInterruptionLeavesNoWorktree) {
  const std::string before = state();
  ArtifactPlan slow = plan("touch '" + (scratch_.root() / "started").string() + "'; sleep 1000");
  slow.interrupted = [&] { return fs::exists(scratch_.root() / "started"); };
  {
    ArtifactBuilder builder(slow);
    error_of(builder, first_, ExitCode::interrupted);
  }
  EXPECT_EQ(state(), before);
}

/// As a run that was killed leaves it: known to git, locked, its build still running.
TEST_F(ArtifactBuild, WhatAKilledRunLeftIsTakenOver) {
  const std::string before = state();
  { ArtifactBuilder(plan()).build(first_); }
  const fs::path tree = fs::directory_iterator(cache_.root() / "builds/bisect")->path() / "tree";
  GitProgram(tree_.root(), scratch_.root()).adopt_worktree(tree, first_);
  ASSERT_TRUE(git(tree, "checkout -q --force " + first_));
  std::ofstream(tree_.root() / ".git/worktrees/tree/index.lock") << "";
  const fs::path pid = scratch_.root() / "pid";
  ASSERT_EQ(std::system(("FLOPMARK_BUILD_TREE='" + tree.string() + "' sh -c 'echo $$ > " + pid.string() +
                         "; exec sleep 1000' &")
                            .c_str()),
            0);
  ASSERT_TRUE(holds_soon([&] { return !file_text(pid).empty(); }));
  { const ArtifactBuilder builder(plan()); }
  EXPECT_TRUE(holds_soon([&] { return is_gone(std::stoi(file_text(pid))); }));
  EXPECT_EQ(state(), before) << "also where nothing needs to be built";
  EXPECT_EQ(file_text(ArtifactBuilder(plan()).build(second_).file), "second\n");
  EXPECT_EQ(state(), before);
}

/// Where the cache lies in a repository, git would go on in that one.
TEST_F(ArtifactBuild, ABuildThatRemovesItsWorktreeDoesNotReachTheUsersTree) {
  tree_.write(".gitignore", "/out/\n/cache/\n");
  tree_.commit("ignored");
  tree_.write("code.txt", "changed and not committed\n");
  const std::string before = state();
  ArtifactPlan inside = plan("mkdir -p out; cp code.txt out/made; rm -f .git");
  inside.cache = tree_.root() / "cache";
  {
    ArtifactBuilder builder(inside);
    EXPECT_EQ(file_text(builder.build(first_).file), "first\n");
    EXPECT_EQ(file_text(builder.build(second_).file), "second\n");
  }
  EXPECT_EQ(file_text(tree_.root() / "code.txt"), "changed and not committed\n");
  EXPECT_EQ(file_text(tree_.root() / ".git/HEAD"), "ref: refs/heads/main\n") << before;
}

TEST_F(ArtifactBuild, ALockThatAKilledBuildLeftHindersNoOther) {
  ArtifactBuilder builder(
      plan("mkdir -p out; cp code.txt out/made; touch \"$(git rev-parse --git-path index.lock)\""));
  EXPECT_EQ(file_text(builder.build(first_).file), "first\n");
  EXPECT_EQ(file_text(builder.build(second_).file), "second\n");
}

TEST_F(ArtifactBuild, AnArtifactThatWasHalfRemovedIsMadeAgain) {
  fs::path kept;
  {
    ArtifactBuilder builder(plan());
    kept = builder.build(first_).file.parent_path();
  }
  fs::remove(kept / "flopmark-build.json");
  EXPECT_EQ(file_text(ArtifactBuilder(plan()).build(first_).file), "first\n");
}

TEST_F(ArtifactBuild, WhatWouldFailAgainIsToldFromWhatWouldNot) {
  EXPECT_THROW(ArtifactBuilder(plan("exit 2")).build(first_), FailedBuild);
  EXPECT_THROW(ArtifactBuilder(plan("true")).build(first_), FailedBuild);
  ArtifactPlan slow = plan("sleep 1000");
  slow.timeout_s = 0.2;
  ArtifactBuilder builder(slow);
  try {
    builder.build(first_);
    ADD_FAILURE() << "no error";
  } catch (const FailedBuild&) {
    ADD_FAILURE() << "its time was up";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::cannot_judge);
  }
}

TEST_F(ArtifactBuild, OneRunAtATimeBuildsThere) {
  const ArtifactBuilder builder(plan());
  try {
    ArtifactBuilder second(plan());
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    EXPECT_THAT(error.what(), HasSubstr("another flopmark is building commits of"));
  }
}

TEST_F(ArtifactBuild, RunsNoHookOfTheRepository) {
  const fs::path hook =
      tree_.write(".git/hooks/post-checkout", "#!/bin/sh\ntouch '" + tree_.root().string() + "/ran'\n");
  fs::permissions(hook, fs::perms::owner_all);
  ArtifactBuilder builder(plan());
  builder.build(first_);
  builder.build(second_);
  EXPECT_FALSE(fs::exists(tree_.root() / "ran"));
}

TEST_F(ArtifactBuild, SubmodulesFollowEachCommit) {
  const ScratchTree library;
  const std::string add = "-c protocol.file.allow=always submodule add '" + library.root().string() + "' lib";
  ASSERT_TRUE(git(tree_.root(), add));
  tree_.commit("library");
  const std::string with_first = commit_of(tree_.root(), "HEAD");
  library.write("code.txt", "faster\n");
  library.commit("faster");
  ASSERT_TRUE(git(tree_.root() / "lib", "-c protocol.file.allow=always pull -q origin main"));
  tree_.commit("new library");
  const std::string with_second = commit_of(tree_.root(), "HEAD");
  const std::string before = state();
  const std::string command = "mkdir -p out; cat lib/code.txt > out/made || echo none > out/made";
  {
    ArtifactBuilder builder(plan(command));
    EXPECT_EQ(file_text(builder.build(with_second).file), "faster\n");
    EXPECT_EQ(file_text(builder.build(with_first).file), "first\n");
    EXPECT_EQ(file_text(builder.build(second_).file), "none\n") << "before there was one";
  }
  EXPECT_EQ(state(), before) << "its configuration included";
  const std::string third = commit("code.txt", "third\n");
  EXPECT_EQ(file_text(ArtifactBuilder(plan(command)).build(third).file), "faster\n") << "also the next run";
}

TEST_F(ArtifactBuild, WhatWasUsedLongestAgoMakesRoom) {
  std::vector<std::string> commits{first_, second_};
  for (int i = 0; i < 4; ++i) commits.push_back(commit("code.txt", std::to_string(i) + "\n"));
  ArtifactPlan small = plan();
  small.cache_bytes = 1;
  ArtifactBuilder builder(small);
  for (const std::string& each : commits) {
    builder.build(first_);
    builder.build(each);
  }
  EXPECT_EQ(builds_, 6);
  EXPECT_TRUE(builder.build(first_).from_cache) << "it was used all the time";
  EXPECT_TRUE(builder.build(commits[5]).from_cache);
  EXPECT_FALSE(builder.build(second_).from_cache);
}

}  // namespace
}  // namespace flopmark
