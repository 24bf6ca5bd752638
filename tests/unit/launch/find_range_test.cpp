#include "launch/find_range.h"

#include <gmock/gmock.h>

#include "flopmark/error.h"
#include "results/git.h"
#include "unit/results/scratch_tree.h"

namespace flopmark {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// first - a - b - c (merge of side, which left at a and has s) - d; a and s changed lib/, and so did c by s.
class FindRange : public ::testing::Test {
 protected:
  void SetUp() override {
    add("a", "lib/code");
    ASSERT_TRUE(git(tree_.root(), "checkout -q -b side"));
    add("s", "lib/side");
    ASSERT_TRUE(git(tree_.root(), "checkout -q main"));
    add("b", "docs");
    ASSERT_TRUE(git(tree_.root(), "merge -q --no-ff -m c side"));
    add("d", "docs");
  }
  void add(const std::string& subject, const std::string& file) const {
    tree_.write(file, subject);
    tree_.commit(subject);
  }
  std::string hash(const std::string& reference) const { return commit_of(tree_.root(), reference); }
  RangeRequest request(const std::string& good, const std::string& bad) const {
    RangeRequest made;
    made.top = tree_.root();
    made.good = good;
    made.bad = bad;
    return made;
  }
  CommitRange find(const RangeRequest& request) const {
    return find_range(request, GitProgram(request.top, scratch_.root()));
  }
  static std::vector<std::string> subjects(const CommitRange& range) {
    std::vector<std::string> all;
    for (const RangeCommit& commit : range.commits) all.push_back(commit.subject);
    return all;
  }
  std::string error_of(const RangeRequest& request) const {
    try {
      find(request);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::usage);
      return error.what();
    }
    ADD_FAILURE() << "no error";
    return "";
  }

  ScratchTree tree_;
  ScratchFolder scratch_;
};

TEST_F(FindRange, ListsParentsBeforeChildrenWithTheirParents) {
  const CommitRange range = find(request("main~3", "main"));
  EXPECT_EQ(range.good, hash("main~3"));
  EXPECT_EQ(range.bad, hash("main"));
  const auto names = subjects(range);
  ASSERT_EQ(names.size(), 4u);
  EXPECT_EQ(names[2], "c");
  EXPECT_EQ(names[3], "d");
  EXPECT_THAT(range.commits[2].parents, ::testing::UnorderedElementsAre(0u, 1u));
  EXPECT_THAT(range.commits[3].parents, ElementsAre(2u));
  EXPECT_EQ(range.commits[2].parent, hash("main~2"));
  EXPECT_TRUE(range.commits[0].parents.empty());
  EXPECT_EQ(range.commits[0].parent, range.good);
  EXPECT_EQ(range.commits.back().hash, range.bad);
}

TEST_F(FindRange, ByFirstParentsAMergeIsOneCommit) {
  RangeRequest first = request("main~4", "main");
  first.first_parent = true;
  const CommitRange range = find(first);
  EXPECT_THAT(subjects(range), ElementsAre("a", "b", "c", "d"));
  EXPECT_THAT(range.commits[2].parents, ElementsAre(1u));
}

TEST_F(FindRange, OfAPathOnlyWhatChangedIt) {
  RangeRequest limited = request("main~4", "main");
  limited.path = "lib";
  const CommitRange range = find(limited);
  EXPECT_THAT(subjects(range), ElementsAre("a", "s"));
  EXPECT_EQ(range.bad, hash("side")) << "the last that changed it";
  EXPECT_THAT(range.commits[1].parents, ElementsAre(0u));
  limited.first_parent = true;
  EXPECT_THAT(subjects(find(limited)), ElementsAre("a", "c"));
  EXPECT_EQ(find(limited).commits[1].parent, hash("main~2")) << "its own parent, though that is left out";
  limited.path = "nothing";
  EXPECT_THAT(error_of(limited), HasSubstr("--path nothing: no commit after main~4 ("));
}

TEST_F(FindRange, SubjectsAreTakenAsTheyAre) {
  add("odd \t \x1b[31m subject", "docs");
  EXPECT_THAT(subjects(find(request("HEAD~1", "HEAD"))), ElementsAre("odd \t \x1b[31m subject"));
  add("with \x1f in it", "docs");
  EXPECT_EQ(find(request("HEAD~2", "HEAD")).commits.size(), 2u);
}

/// A setting of the user's makes git leave out parents, and so older candidates.
TEST_F(FindRange, AUsersSettingForLogsDoesNotCutTheRange) {
  add("e", "lib/code");
  add("f", "lib/code");
  ASSERT_TRUE(git(tree_.root(), "config log.follow true"));
  RangeRequest limited = request("main~6", "main");
  limited.path = "lib/code";
  const CommitRange range = find(limited);
  EXPECT_THAT(subjects(range), ElementsAre("a", "e", "f"));
  EXPECT_THAT(range.commits[2].parents, ElementsAre(1u));
}

TEST_F(FindRange, APathIsNoPattern) {
  add("e", "lib/[ab]");
  RangeRequest limited = request("main~5", "main");
  limited.path = "lib/[ab]";
  EXPECT_THAT(subjects(find(limited)), ElementsAre("e"));
}

TEST_F(FindRange, UnknownEndsAreRefused) {
  EXPECT_THAT(error_of(request("v9", "main")), HasSubstr("--good v9: no such commit, branch or tag"));
  EXPECT_THAT(error_of(request("main", std::string(40, '1'))), HasSubstr("--bad 1111"));
}

TEST_F(FindRange, EndsOutOfOrderAreRefused) {
  EXPECT_THAT(error_of(request("main", "main~1")),
              AllOf(HasSubstr("is newer than --bad main~1 ("), HasSubstr("exchange them")));
  EXPECT_THAT(error_of(request("main", "HEAD")), HasSubstr("are the same commit"));
  EXPECT_THAT(error_of(request("side", "main~2")),
              AllOf(HasSubstr("they parted at " + hash("main~3").substr(0, 10)), HasSubstr("give --good")));
  ASSERT_TRUE(git(tree_.root(), "checkout -q --orphan other"));
  tree_.commit("other");
  EXPECT_THAT(error_of(request("main", "other")), HasSubstr("have no common history"));
}

TEST_F(FindRange, AShallowCloneIsToldHowToDeepen) {
  const ScratchFolder clone;
  const std::string url = "'file://" + tree_.root().string() + "' .";
  ASSERT_TRUE(git(clone.root(), "clone -q --depth 2 " + url));
  RangeRequest in_clone = request(hash("main~4"), "HEAD");
  in_clone.top = clone.root();
  EXPECT_THAT(error_of(in_clone), HasSubstr("git fetch --unshallow"));
  ASSERT_TRUE(git(clone.root(), "fetch -q --depth 1 origin main~4:old") ||
              git(clone.root(), "fetch -q --depth 1 origin " + hash("main~4") + ":refs/heads/old"));
  in_clone.good = "old";
  EXPECT_THAT(error_of(in_clone), AllOf(HasSubstr("does not lead to"), HasSubstr("git fetch --unshallow")));
  in_clone.good = "HEAD~1";
  EXPECT_THAT(subjects(find(in_clone)), ::testing::Contains("d"));
}

}  // namespace
}  // namespace flopmark
