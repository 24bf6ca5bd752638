#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "bisect/bisection.h"
#include "fakes/bisect_history.h"
#include "unit/bisect/journal_folder.h"

namespace flopmark {
namespace {

using testing::BisectHistory;
using testing::commit_hash;
using ::testing::HasSubstr;
using testing::HistoryWorld;
using testing::Killed;
using testing::normal_pairs;

/// With something of everything: skips, docs, a crash, two steps, noise that takes a second attempt.
BisectHistory varied_history() {
  BisectHistory history = testing::plain_history(40);
  add_step(history, 13, 0.05);
  add_step(history, 30, 0.05);
  history.commits[19].builds = history.commits[12].builds = false;
  history.commits[11].crashes = true;
  make_docs_only(history, 9);
  make_docs_only(history, 15);
  return history;
}

std::set<std::string> keys_of(const HistoryWorld& world) {
  std::set<std::string> keys;
  for (const ComparisonRequest& request : world.compared) {
    keys.insert(std::string(to_text(request.comparison)) + request.a + request.b +
                std::to_string(request.attempt));
  }
  return keys;
}

void expect_equal(const BisectionResult& resumed, const BisectionResult& whole) {
  EXPECT_EQ(resumed.outcome, whole.outcome);
  EXPECT_EQ(resumed.candidates, whole.candidates);
  EXPECT_EQ(resumed.reason, whole.reason);
  EXPECT_EQ(resumed.regression->change.change_ratio, whole.regression->change.change_ratio);
  EXPECT_EQ(resumed.other_halves.size(), whole.other_halves.size());
  ASSERT_EQ(resumed.tested.size(), whole.tested.size());
  for (size_t i = 0; i < whole.tested.size(); ++i) {
    EXPECT_EQ(resumed.tested[i].commit, whole.tested[i].commit);
    EXPECT_EQ(resumed.tested[i].state, whole.tested[i].state);
    EXPECT_EQ(resumed.tested[i].reason, whole.tested[i].reason);
    EXPECT_EQ(resumed.tested[i].evidence.size(), whole.tested[i].evidence.size());
  }
}

class ResumedBisection : public JournalFolder {
 protected:
  BisectionResult run(HistoryWorld& world, Journal& journal) const {
    return run_bisection(history_.range, {}, world, journal);
  }
  BisectionResult run(HistoryWorld& world, Journal&& journal) const {
    return run_bisection(history_.range, {}, world, journal);
  }
  HistoryWorld fresh_world() const { return {history_, normal_pairs(0.02)}; }

  const BisectHistory history_ = varied_history();
};

TEST_F(ResumedBisection, KilledAtAnyEventItComesToTheSameAnswerAndLosesNothing) {
  HistoryWorld undisturbed = fresh_world();
  const BisectionResult whole = run(undisturbed, Journal::begin(path_, subject_));
  ASSERT_GT(undisturbed.events, 15U);
  for (size_t event = 1; event <= undisturbed.events; ++event) {
    HistoryWorld first = fresh_world(), second = fresh_world();
    first.killed_at = event;
    EXPECT_THROW(run(first, Journal::begin(path_, subject_)), Killed);
    second.cache = first.cache;
    expect_equal(run(second, Journal::resume(path_, subject_)), whole);
    EXPECT_EQ(first.built.size() + second.built.size(), undisturbed.built.size()) << "event " << event;
    EXPECT_EQ(first.compared.size() + second.compared.size(), undisturbed.compared.size());
    std::set<std::string> both = keys_of(first);
    both.merge(keys_of(second));
    EXPECT_EQ(both, keys_of(undisturbed));
  }
}

TEST_F(ResumedBisection, InterruptedAtAnyEventItSaysSoAndGoesOnTheSame) {
  HistoryWorld undisturbed = fresh_world();
  const BisectionResult whole = run(undisturbed, Journal());
  for (size_t event = 1; event <= undisturbed.events; ++event) {
    HistoryWorld first = fresh_world(), second = fresh_world();
    first.interrupted_at = event;
    Journal journal;
    const BisectionResult part = run(first, journal);
    EXPECT_EQ(part.outcome, BisectOutcome::interrupted);
    EXPECT_EQ(exit_code(part), ExitCode::interrupted);
    EXPECT_TRUE(names_a_step(part, history_));
    second.cache = first.cache;
    expect_equal(run(second, journal), whole);
    EXPECT_EQ(first.compared.size() + second.compared.size(), undisturbed.compared.size());
  }
}

TEST_F(ResumedBisection, AFinishedOneNeedsNoMachine) {
  HistoryWorld first = fresh_world(), second = fresh_world();
  const BisectionResult whole = run(first, Journal::begin(path_, subject_));
  expect_equal(run(second, Journal::resume(path_, subject_)), whole);
  EXPECT_EQ(second.events, 0U);
  EXPECT_EQ(second.clock_s, 0);
}

TEST_F(ResumedBisection, BuildsThatLeftTheCacheAreMadeAgainWhereTheyAreNeeded) {
  HistoryWorld first = fresh_world(), second = fresh_world();
  first.killed_at = 8;
  EXPECT_THROW(run(first, Journal::begin(path_, subject_)), Killed);
  run(second, Journal::resume(path_, subject_));  // with an empty cache
  EXPECT_EQ(second.built.front(), history_.range.good);
  EXPECT_EQ(std::count(second.built.begin(), second.built.end(), history_.range.bad), 0);
}

TEST_F(ResumedBisection, WithoutTheGoodBuildItEndsWithWhatIsKnown) {
  HistoryWorld first = fresh_world(), second = fresh_world();
  first.killed_at = 8;
  EXPECT_THROW(run(first, Journal::begin(path_, subject_)), Killed);
  second.gone = {history_.range.good};
  const BisectionResult result = run(second, Journal::resume(path_, subject_));
  EXPECT_EQ(result.outcome, BisectOutcome::range);
  EXPECT_THAT(result.reason, HasSubstr("0000000000 was built before, and now does not build: `make` ended"));
  EXPECT_TRUE(names_a_step(result, history_));
  EXPECT_TRUE(second.compared.empty());
}

}  // namespace
}  // namespace flopmark
