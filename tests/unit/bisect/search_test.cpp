#include "bisect/search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "unit/bisect/ranges.h"

namespace flopmark {
namespace {

using ::testing::ElementsAre;
using ::testing::IsSupersetOf;

/// Answers as a repository in which `culprit` made everything after it bad would, skipping `broken` commits.
size_t steps_to_find(CommitSearch& search, const CommitRange& range, size_t culprit,
                     const std::vector<bool>& broken) {
  size_t steps = 0;
  for (; const std::optional<size_t> commit = search.next(); ++steps) {
    EXPECT_EQ(search.state(*commit), CommitState::untested);
    search.mark(*commit, broken[*commit]                     ? CommitState::skipped
                         : leads_to(range, culprit, *commit) ? CommitState::bad
                                                             : CommitState::good);
  }
  return steps;
}

TEST(CommitSearch, HalvesALine) {
  const CommitRange range = line_of(8);
  CommitSearch search(range);
  EXPECT_EQ(search.candidates().size(), 8U);
  EXPECT_EQ(search.most_steps(), 3U);
  EXPECT_EQ(search.next(), 3U);  // leads back to 4 of 8
  search.mark(3, CommitState::good);
  EXPECT_THAT(search.candidates(), ElementsAre(4, 5, 6, 7));
  EXPECT_EQ(search.next(), 5U);
  search.mark(5, CommitState::bad);
  EXPECT_THAT(search.candidates(), ElementsAre(4, 5));
  EXPECT_EQ(search.most_steps(), 1U);
  EXPECT_EQ(search.next(), 4U);
  search.mark(4, CommitState::good);
  EXPECT_THAT(search.candidates(), ElementsAre(5));
  EXPECT_EQ(search.first_bad(), 5U);
  EXPECT_EQ(search.next(), std::nullopt);
}

TEST(CommitSearch, OneCommitIsTheOne) {
  const CommitRange range = line_of(1);
  const CommitSearch search(range);
  EXPECT_EQ(search.next(), std::nullopt);
  EXPECT_EQ(search.most_steps(), 0U);
  EXPECT_THAT(search.candidates(), ElementsAre(0));
}

TEST(CommitSearch, TakesTheOldestOfEquals) {
  const CommitRange range = line_of(5);
  EXPECT_EQ(CommitSearch(range).next(), 1U);  // 2 or 3 of 5
}

//   good - 0 - 1 - 3 - 4
//            \ 2 _____/
TEST(CommitSearch, CountsWhatAMergeLeadsBackToOnce) {
  const CommitRange range = range_of({{}, {0}, {0}, {1}, {3, 2}});
  CommitSearch search(range);
  EXPECT_EQ(search.next(), 1U);  // 1, 2 and 3 halve alike: 2, 2 and 3 of 5
  search.mark(1, CommitState::good);
  EXPECT_THAT(search.candidates(), ElementsAre(2, 3, 4));  // 0 leads to a good one
  search.mark(2, CommitState::bad);
  EXPECT_THAT(search.candidates(), ElementsAre(2));  // 3 does not lead to it
}

TEST(CommitSearch, AGoodMergeClearsBothOfItsSides) {
  const CommitRange range = range_of({{}, {}, {0, 1}, {2}, {3}, {4}});
  CommitSearch search(range);
  EXPECT_EQ(search.next(), 2U);
  search.mark(2, CommitState::good);
  EXPECT_THAT(search.candidates(), ElementsAre(3, 4, 5));
}

TEST(CommitSearch, AMergeItselfCanBeTheOne) {
  const CommitRange range = range_of({{}, {}, {0, 1}});
  CommitSearch search(range);
  search.mark(0, CommitState::good);
  search.mark(1, CommitState::good);
  EXPECT_THAT(search.candidates(), ElementsAre(2));
}

TEST(CommitSearch, SkipsAndSaysWhatIsLeft) {
  const CommitRange range = line_of(4);
  CommitSearch search(range);
  EXPECT_EQ(search.next(), 1U);
  search.mark(1, CommitState::skipped);
  const std::optional<size_t> other = search.next();
  ASSERT_TRUE(other == 0U || other == 2U);
  search.mark(0, CommitState::good);
  search.mark(2, CommitState::bad);
  EXPECT_EQ(search.next(), std::nullopt);
  EXPECT_THAT(search.candidates(), ElementsAre(1, 2));
  EXPECT_EQ(search.state(1), CommitState::skipped);
}

TEST(CommitSearch, StepsAwayFromARunOfBrokenCommits) {
  const CommitRange range = line_of(1000);
  std::vector<bool> broken(1000, false);
  for (size_t i = 400; i < 600; ++i) broken[i] = true;
  for (const size_t culprit : {5U, 120U, 999U}) {
    CommitSearch search(range);
    EXPECT_LE(steps_to_find(search, range, culprit, broken), 25U);
    EXPECT_THAT(search.candidates(), ElementsAre(culprit));
  }
  CommitSearch search(range);
  steps_to_find(search, range, 600, broken);
  EXPECT_EQ(search.candidates().size(), 201U);  // the run, and the first that works after it
  EXPECT_EQ(search.first_bad(), 600U);
}

TEST(CommitSearch, FindsAnyCommitOfALineInTheStepsItPromises) {
  for (size_t count = 1; count <= 70; ++count) {
    const CommitRange range = line_of(count);
    for (size_t culprit = 0; culprit < count; ++culprit) {
      CommitSearch search(range);
      const size_t most = search.most_steps();
      EXPECT_LE(steps_to_find(search, range, culprit, std::vector<bool>(count, false)), most);
      ASSERT_THAT(search.candidates(), ElementsAre(culprit));
    }
  }
}

TEST(CommitSearch, OnBranchesWithSkipsTheCulpritIsAlwaysAmongTheRest) {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    Random random(seed);
    const size_t count = 2 + random.index(20);
    const CommitRange range = branched_range(count, random);
    const size_t culprit = random.index(count);
    std::vector<bool> broken(count, false);
    for (size_t i = 0; i + 1 < count; ++i) broken[i] = seed % 2 == 0 && random.uniform() < 0.3;
    CommitSearch search(range);
    steps_to_find(search, range, culprit, broken);
    EXPECT_THAT(search.candidates(), IsSupersetOf({culprit})) << "seed " << seed;
    for (const size_t i : search.candidates()) {
      EXPECT_TRUE(i == search.first_bad() || search.state(i) == CommitState::skipped) << "seed " << seed;
    }
    if (seed % 2 == 1) {
      EXPECT_THAT(search.candidates(), ElementsAre(culprit)) << "seed " << seed;
    }
  }
}

}  // namespace
}  // namespace flopmark
