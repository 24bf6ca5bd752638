#include "results/baseline_age.h"

#include <gmock/gmock.h>

#include "fakes/example_record.h"
#include "results/record_file.h"
#include "unit/results/scratch_tree.h"

namespace flopmark {
namespace {

RunRecord measured_at(const std::string& time, const std::string& commit) {
  RunRecord record = example_record();
  record.time = time;
  record.subject.commit = commit;
  return record;
}

std::string head_of(const ScratchTree& tree) {
  return file_text(tree.root() / ".git/refs/heads/main").substr(0, 40);
}

TEST(BaselineAge, InDaysAndInCommits) {
  const ScratchTree tree;
  const RunRecord baseline = measured_at("2026-02-27T23:59:59.999Z", head_of(tree));
  for (int i = 0; i < 3; ++i) {
    tree.write("code.txt", std::to_string(i));
    tree.commit("next");
  }
  const BaselineAge age = baseline_age(baseline, tree.root(), "HEAD", "2026-03-02T00:00:00.000Z");
  EXPECT_EQ(age.days, 3);
  EXPECT_EQ(age.commits, 3);
  EXPECT_EQ(baseline_age(baseline, tree.root(), "HEAD~2", "2026-02-27T23:59:59.999Z").commits, 1);
  EXPECT_EQ(baseline_age(baseline, tree.root(), head_of(tree), "2025-01-01T00:00:00.000Z").days, 0);
}

TEST(BaselineAge, UnknownIsAbsentAndFresh) {
  const ScratchTree tree;
  const ScratchFolder no_tree;
  const RunRecord foreign =
      measured_at("yesterday", "fedcba9876543210fedcba9876543210fedcba98");  // as in a shallow clone
  const BaselineAge age = baseline_age(foreign, tree.root(), "HEAD", "2026-03-02T00:00:00.000Z");
  EXPECT_FALSE(age.days.has_value());
  EXPECT_FALSE(age.commits.has_value());
  EXPECT_EQ(freshness(age, {}), Freshness::fresh);
  EXPECT_FALSE(baseline_age(foreign, no_tree.root(), "HEAD", "").commits.has_value());
  EXPECT_FALSE(
      baseline_age(measured_at("2026-02-30T00:00:00Z", ""), tree.root(), "HEAD", utc_now()).days.has_value());
}

TEST(Freshness, IsOfTheOlderOfTheTwo) {
  const AgeLimits limits{.commits = 10, .days = 30};
  EXPECT_EQ(freshness({9, 29}, limits), Freshness::fresh);
  EXPECT_EQ(freshness({10, 0}, limits), Freshness::stale);
  EXPECT_EQ(freshness({0, 30}, limits), Freshness::stale);
  EXPECT_EQ(freshness({19, 59}, limits), Freshness::stale);
  EXPECT_EQ(freshness({20, 0}, limits), Freshness::too_old);
  EXPECT_EQ(freshness({std::nullopt, 60}, limits), Freshness::too_old);
  EXPECT_EQ(freshness({1000000, 1000000}, {.commits = 0, .days = 0}), Freshness::fresh) << "0: never";
}

TEST(AgeText, SaysWhatIsKnownAndTheLimits) {
  EXPECT_EQ(age_text({1, 120}, {}), "120 days and 1 commit old; stale from 90 days or 500 commits");
  EXPECT_EQ(age_text({std::nullopt, 1}, {.commits = 0, .days = 1}), "1 day old; stale from 1 day");
}

}  // namespace
}  // namespace flopmark
