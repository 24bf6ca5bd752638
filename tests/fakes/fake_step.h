#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "measure/samples.h"
#include "measure/step.h"

namespace flopmark {

/// A clock that stands still until told to advance; counts its reads.
class FakeClock : public Clock {
 public:
  int64_t now_ns() override {
    ++reads_;
    return now_ns_;
  }
  void advance_ns(int64_t ns) { now_ns_ += ns; }
  void advance_s(double seconds) { advance_ns(std::llround(seconds * 1e9)); }
  int64_t reads() const { return reads_; }
  int64_t peek_ns() const { return now_ns_; }  ///< not counted as a read

 private:
  int64_t now_ns_ = 1'000'000'000;
  int64_t reads_ = 0;
};

/// What a FakeStep does. Steps count from 1 over the fake's whole life, warm-up included.
struct FakeScript {
  std::array<double, 5> phase_s = {0, 0, 1e-3, 0, 0};  ///< data, transfer, forward, backward, optimizer
  std::function<double(int64_t)> scale = [](int64_t) { return 1.0; };  ///< all phases of that step times this
  std::function<double(int64_t)> loss = [](int64_t step) { return 1.0 / static_cast<double>(step); };
  int64_t samples = 2, tokens = 64, images = 0;  ///< per micro-batch
  std::function<bool(int64_t)> skips = nullptr;  ///< updates left out for an overflow; none: not scaled
  std::optional<int64_t> throw_at_step = std::nullopt;
  Phase throw_in = Phase::forward;
  std::string throw_text = "scripted failure";
  std::function<void(int64_t)> on_update = [](int64_t) {};  ///< called at the end of each step's update
};

/// A training step that takes exactly the scripted time on a FakeClock and allocates nothing between
/// begin_block and end_block. Keeps its calls as letters: B(egin) n(ext) t(ransfer) f(orward) b(ackward)
/// u(pdate) E(nd) K(eep).
class FakeStep : public TrainingStep {
 public:
  FakeStep(FakeClock& clock, FakeScript script) : clock_(clock), script_(std::move(script)) {}

  void begin_block(int64_t steps) override {
    facts_ = {};
    facts_.losses.reserve(static_cast<size_t>(steps));
    calls_.reserve(calls_.size() + 2 + static_cast<size_t>(steps) * 64);
    calls_ += 'B';
  }
  void next_batch() override {
    if (kept_) {
      calls_ += 'n';
    } else {
      run(Phase::data, 'n');
      facts_.data_wait_host_s += script_.phase_s[0] * script_.scale(step_);
    }
    facts_.samples += script_.samples;
    facts_.tokens += script_.tokens;
    facts_.images += script_.images;
  }
  void transfer() override { run(Phase::transfer, 't'); }
  void forward() override { run(Phase::forward, 'f'); }
  void backward() override { run(Phase::backward, 'b'); }
  void update() override {
    run(Phase::optimizer, 'u');
    facts_.losses.push_back(script_.loss(step_));
    if (script_.skips) facts_.skipped_steps = facts_.skipped_steps.value_or(0) + script_.skips(step_);
    script_.on_update(step_);
    ++step_;
  }
  BlockFacts end_block() override {
    calls_ += 'E';
    return facts_;
  }
  void keep_batch() override {
    calls_ += 'K';
    kept_ = true;
  }

  const std::string& calls() const { return calls_; }
  int64_t finished() const { return step_ - 1; }

 private:
  void run(Phase phase, char letter) {
    calls_ += letter;
    if (script_.throw_at_step == step_ && script_.throw_in == phase) {
      throw std::runtime_error(script_.throw_text);
    }
    const size_t index = phase == Phase::optimizer ? 4 : static_cast<size_t>(phase);
    clock_.advance_s(script_.phase_s[index] * script_.scale(step_));
  }

  FakeClock& clock_;
  FakeScript script_;
  BlockFacts facts_;
  std::string calls_;
  int64_t step_ = 1;
  bool kept_ = false;
};

}  // namespace flopmark
