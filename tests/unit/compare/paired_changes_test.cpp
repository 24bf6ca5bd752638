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

/// Launches of 0.2 s a step, of which `data_s` are waiting, with so many batches ready at each turn.
std::vector<LaunchSamples> waiting(double data_s, std::optional<int64_t> depth) {
  std::vector<LaunchSamples> made = launches(2, 0);
  for (LaunchSamples& launch : made) {
    for (double& s : launch.timed.phase_s[static_cast<size_t>(Phase::data)]) s = data_s;
    for (TurnSamples& turn : launch.turns) turn.queue_depth = depth;
  }
  return made;
}

TEST(LoaderQueue, IsToldWhereOneSideWaitsWithAnEmptyQueue) {
  const auto queue = loader_queue(waiting(0.002, 4), waiting(0.1, 0));
  ASSERT_TRUE(queue);
  EXPECT_NEAR(queue->wait_ratio_a, 0.01, 1e-9);
  EXPECT_NEAR(queue->wait_ratio_b, 0.5, 1e-9);
  EXPECT_EQ(queue->depth_a, 4);
  EXPECT_EQ(queue->depth_b, 0);
  EXPECT_TRUE(loader_queue(waiting(0.011, 1), waiting(0, 4)));
  EXPECT_FALSE(loader_queue(waiting(0.1, 4), waiting(0.1, 2))) << "batches are there: taking them is slow";
  EXPECT_FALSE(loader_queue(waiting(0.009, 0), waiting(0.009, 0))) << "waits for less than 5 %";
  EXPECT_FALSE(loader_queue(waiting(0.1, std::nullopt), waiting(0.1, 0))) << "no workers";
}

}  // namespace
}  // namespace flopmark
