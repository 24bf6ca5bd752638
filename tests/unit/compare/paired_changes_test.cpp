#include "compare/paired_changes.h"

#include <gmock/gmock.h>

#include "fakes/fake_pairs.h"

namespace flopmark {
namespace {

/// `count` launches of 0.2 s a step whose backward takes `more_s` more.
std::vector<LaunchSamples> launches(size_t count, double more_s, double spread_s = 0) {
  std::vector<LaunchSamples> made;
  for (size_t i = 0; i < count; ++i) {
    LaunchSamples samples = *turned_launch(0.2).samples;
    const double extra_s = more_s + (i % 2 == 0 ? 1 : -1) * spread_s;
    for (double& s : samples.timed.step_s) s += extra_s;
    for (double& s : samples.timed.phase_s[static_cast<size_t>(Phase::backward)]) s += extra_s;
    made.push_back(samples);
  }
  return made;
}

const PhaseChange& phase(const std::vector<PhaseChange>& changes, const std::string& name) {
  return *std::find_if(changes.begin(), changes.end(),
                       [&](const PhaseChange& change) { return change.name == name; });
}

TEST(PhaseChanges, NamesThePhaseThatGrew) {
  const auto changes = phase_changes(launches(12, 0), launches(12, 0.01, 0.001));
  EXPECT_TRUE(phase(changes, "backward").changed);
  EXPECT_NEAR(phase(changes, "backward").change_s, 0.01, 1e-9);
  EXPECT_NEAR(phase(changes, "backward").step_share_ratio, 0.05, 1e-9);
  EXPECT_FALSE(phase(changes, "forward").changed);
  EXPECT_EQ(changes.size(), 4u);  // nothing is transferred, nothing left over
}

TEST(PhaseChanges, SmallOrUncertainOnesAreNotChanged) {
  EXPECT_FALSE(phase(phase_changes(launches(12, 0), launches(12, 0.0005)), "backward").changed);
  EXPECT_FALSE(phase(phase_changes(launches(12, 0), launches(12, 0.002, 0.05)), "backward").changed);
  EXPECT_FALSE(phase(phase_changes(launches(2, 0), launches(2, 0.05)), "backward").changed);  // no interval
}

TEST(OperatorChanges, ListsOtherCallsAndOtherFlops) {
  FlopTotals a, b;
  a.by_operator = {{"aten::mm", 45, 10, 10}, {"aten::gone", 1, 5, 5}, {"aten::same", 2, 3, 3}};
  b.by_operator = {{"aten::mm", 45, 12, 12}, {"aten::same", 2, 3, 3}};
  b.uncounted = {{"aten::new", 7}};
  const auto changes = operator_changes(a, b);
  ASSERT_EQ(changes.size(), 3u);
  EXPECT_EQ(changes[0].name, "aten::gone");
  EXPECT_EQ(changes[0].calls_b, 0);
  EXPECT_EQ(changes[1].name, "aten::mm");
  EXPECT_EQ(changes[1].hardware_flop_b, 12);
  EXPECT_EQ(changes[2].calls_b, 7);
}

}  // namespace
}  // namespace flopmark
