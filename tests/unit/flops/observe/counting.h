#pragma once

#include <ATen/autocast_mode.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <functional>
#include <map>
#include <string>

#include "flops/observe/observer.h"

namespace flopmark {

inline torch::Tensor leaf(at::IntArrayRef sizes) {
  return torch::randn(sizes, torch::requires_grad());
}

/// Totals after checking that the rows add up to them.
inline FlopTotals checked_totals(const FlopObserver& observer) {
  const FlopTotals totals = observer.totals();
  int64_t model = 0, hardware = 0;
  for (const OperatorFlops& row : totals.by_operator) {
    model += row.model_flop;
    hardware += row.hardware_flop;
  }
  EXPECT_EQ(model, totals.model_flop());
  EXPECT_EQ(hardware, totals.hardware_flop());
  return totals;
}

/// One forward, counted.
inline FlopTotals count_forward(const std::function<void()>& work) {
  FlopObserver observer;
  work();
  return checked_totals(observer);
}

/// One forward and the backward from the sum of its output, counted.
inline FlopTotals count_step(const std::function<torch::Tensor()>& output) {
  FlopObserver observer;
  const torch::Tensor loss = output().sum();
  observer.enter(FlopObserver::Part::backward);
  loss.backward();
  return checked_totals(observer);
}

inline std::map<std::string, int64_t> calls_of(const FlopTotals& totals) {
  std::map<std::string, int64_t> calls;
  for (const OperatorFlops& row : totals.by_operator) {
    calls[row.name] = row.calls;
  }
  return calls;
}

inline std::map<std::string, int64_t> uncounted_of(const FlopTotals& totals) {
  std::map<std::string, int64_t> calls;
  for (const UncountedOperator& row : totals.uncounted) {
    calls[row.name] = row.calls;
  }
  return calls;
}

}  // namespace flopmark
