#pragma once

#include <functional>
#include <string>
#include <vector>

#include "measure/matmul_search.h"

namespace flopmark {

/// A clock that moves only when told to.
class ToldClock : public Clock {
 public:
  int64_t now_ns() override { return ns; }
  int64_t ns = 1'000'000;
};

/// Products that take as long as `rate` says, on a ToldClock. Sees everything that was asked of it.
class FakeMatmul : public MatmulKernel {
 public:
  /// FLOP/s of the `call`-th run (from 1) since the last prepare.
  using Rate = std::function<double(const std::string& precision, const MatmulShape& shape, int64_t run)>;
  FakeMatmul(ToldClock& clock, Rate rate) : clock_(clock), rate_(std::move(rate)) {}

  void prepare(const std::string& precision, const MatmulShape& shape) override {
    precision_ = precision;
    shape_ = shape;
    run_ = 0;
    prepared.push_back(shape);
  }
  void run(int64_t calls) override {
    const double s = static_cast<double>(calls) * shape_.flop() / rate_(precision_, shape_, ++run_);
    clock_.ns += static_cast<int64_t>(s * 1e9);
    runs_s.push_back(s);
    if (on_run) on_run();
  }

  std::vector<MatmulShape> prepared;
  std::vector<double> runs_s;
  std::function<void()> on_run;

 private:
  ToldClock& clock_;
  Rate rate_;
  std::string precision_;
  MatmulShape shape_;
  int64_t run_ = 0;
};

}  // namespace flopmark
