// What an exchange between ranks does to the phases of a step.
#include <gtest/gtest.h>

#include "fakes/fake_step.h"
#include "measure/host_marker.h"
#include "measure/step_loop.h"

namespace flopmark {
namespace {

/// Says that an exchange between ranks took part of backward and of the update.
class ExchangingStep : public FakeStep {
 public:
  using FakeStep::FakeStep;
  std::vector<double> in_backward_s, in_update_s;
  BlockFacts end_block() override {
    BlockFacts facts = FakeStep::end_block();
    facts.exchange_in_backward_s = in_backward_s;
    facts.exchange_in_update_s = in_update_s;
    return facts;
  }
};

TEST(StepExchange, TheExchangeIsTakenOutOfThePhasesItLiesIn) {
  FakeClock clock;
  ExchangingStep step(clock, {.phase_s = {0, 0, 0.003, 0.004, 0.002}});
  step.in_backward_s = {0.001, 0.9};  // never more than there is
  step.in_update_s = {0.0005, 0};
  HostMarker marker(clock);
  LoopState state;
  const BlockSamples samples = run_block(step, marker, clock, {.steps = 2}, state);
  const auto of = [&](Phase phase, size_t i) { return samples.phase_s[static_cast<size_t>(phase)].at(i); };
  EXPECT_NEAR(of(Phase::backward, 0), 0.003, 1e-12);
  EXPECT_NEAR(of(Phase::optimizer, 0), 0.0015, 1e-12);
  EXPECT_NEAR(of(Phase::communication, 0), 0.0015, 1e-12);
  EXPECT_NEAR(of(Phase::backward, 1), 0, 1e-12);
  EXPECT_NEAR(of(Phase::communication, 1), 0.004, 1e-12);
  EXPECT_NEAR(samples.step_s[0], 0.009, 1e-12);
}

TEST(StepExchange, WithoutAnExchangeThereIsNoSuchPhase) {
  FakeClock clock;
  FakeStep step(clock, {});
  HostMarker marker(clock);
  LoopState state;
  const BlockSamples samples = run_block(step, marker, clock, {.steps = 2}, state);
  EXPECT_TRUE(samples.phase_s[static_cast<size_t>(Phase::communication)].empty());
}

}  // namespace
}  // namespace flopmark
