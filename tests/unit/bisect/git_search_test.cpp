// What git itself would test next, on the same commits.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <sstream>

#include "bisect/search.h"
#include "fakes/run_program.h"
#include "unit/bisect/ranges.h"

namespace flopmark {
namespace {

using testing::ProgramResult;

class GitSearch : public ::testing::Test {
 protected:
  GitSearch() {
    std::string name = ::testing::TempDir() + "flopmark-git-XXXXXX";
    folder_ = mkdtemp(name.data());
    git({"init", "-q"});
    tree_ = git({"write-tree"});
    good_ = commit({});
  }
  ~GitSearch() override { std::filesystem::remove_all(folder_); }

  std::string git(const std::vector<std::string>& arguments) const {
    testing::ProgramOptions options;
    options.arguments = arguments;
    options.folder = folder_;
    for (const char* who : {"AUTHOR", "COMMITTER"}) {
      options.environment[std::string("GIT_") + who + "_NAME"] = "somebody";
      options.environment[std::string("GIT_") + who + "_EMAIL"] = "somebody@example.org";
      options.environment[std::string("GIT_") + who + "_DATE"] =
          std::to_string(1700000000 + commits_) + " +0000";
    }
    const ProgramResult result = testing::run_program("git", options);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return result.out.substr(0, result.out.find_last_not_of('\n') + 1);
  }
  std::string commit(const std::vector<std::string>& parents) {
    std::vector<std::string> arguments{"commit-tree", tree_, "-m", std::to_string(++commits_)};
    for (const std::string& parent : parents) arguments.insert(arguments.end(), {"-p", parent});
    return git(arguments);
  }
  /// The range's commits as git's: their hashes.
  std::vector<std::string> made(const CommitRange& range) {
    std::vector<std::string> hashes;
    for (const RangeCommit& made : range.commits) {
      std::vector<std::string> parents;
      for (const size_t parent : made.parents) parents.push_back(hashes[parent]);
      if (parents.empty()) parents.push_back(good_);
      hashes.push_back(commit(parents));
    }
    return hashes;
  }
  /// How well git thinks that each candidate halves what is left.
  std::map<std::string, size_t> halvings(const std::string& bad, const std::vector<std::string>& good) const {
    std::vector<std::string> arguments{"rev-list", "--bisect-all", bad, "--not", good_};
    arguments.insert(arguments.end(), good.begin(), good.end());
    std::istringstream lines(git(arguments));
    std::map<std::string, size_t> found;
    for (std::string line; std::getline(lines, line);) {
      found[line.substr(0, 40)] = std::stoul(line.substr(line.find("dist=") + 5));
    }
    return found;
  }

  std::filesystem::path folder_;
  std::string tree_, good_;
  size_t commits_ = 0;
};

TEST_F(GitSearch, HasTheSameCandidatesAndHalvesThemAsWell) {
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    Random random(seed);
    const CommitRange range = branched_range(12 + random.index(12), random);
    const std::vector<std::string> hashes = made(range);
    const size_t culprit = random.index(range.commits.size());
    CommitSearch search(range);
    std::vector<std::string> good;
    while (const std::optional<size_t> next = search.next()) {
      const std::map<std::string, size_t> of_git = halvings(hashes[search.first_bad()], good);
      ASSERT_EQ(of_git.size(), search.candidates().size());
      size_t best = 0;
      for (const size_t candidate : search.candidates()) {
        ASSERT_EQ(of_git.count(hashes[candidate]), 1U);
        best = std::max(best, of_git.at(hashes[candidate]));
      }
      EXPECT_EQ(of_git.at(hashes[*next]), best) << "seed " << seed;
      const bool bad = leads_to(range, culprit, *next);
      search.mark(*next, bad ? CommitState::bad : CommitState::good);
      if (!bad) good.push_back(hashes[*next]);
    }
    EXPECT_THAT(search.candidates(), ::testing::ElementsAre(culprit));
  }
}

}  // namespace
}  // namespace flopmark
