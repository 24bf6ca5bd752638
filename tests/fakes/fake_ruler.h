#pragma once

#include <functional>

#include "fakes/fake_matmul.h"
#include "measure/ruler.h"

namespace flopmark {

/// A ruler of 1000 FLOP and 64 bytes whose calls take as long as told, on a ToldClock.
class FakeRuler : public RulerKernel {
 public:
  explicit FakeRuler(ToldClock& clock) : clock_(clock) {}
  int64_t matmul_flop() const override { return 1000; }
  int64_t copy_bytes() const override { return 64; }
  void matmul() override { pass_s(matmul_s(++matmuls)); }
  void copy() override {
    ++copies;
    pass_s(copy_s);
  }

  std::function<double(int call)> matmul_s = [](int) { return 0.01; };  ///< of the call-th, from 1
  double copy_s = 0.002;
  int matmuls = 0;
  int copies = 0;

 private:
  void pass_s(double s) { clock_.ns += static_cast<int64_t>(s * 1e9 + 0.5); }
  ToldClock& clock_;
};

}  // namespace flopmark
