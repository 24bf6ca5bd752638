#pragma once

#include <string>
#include <utility>
#include <vector>

#include "compare/paired_comparison.h"
#include "fakes/fake_pairs.h"

namespace flopmark {

/// A tiny LLaMA measured with two workers, not described yet.
inline PairedComparison example_sides() {
  PairedComparison comparison;
  for (PairedSide* side : {&comparison.a, &comparison.b}) {
    RunConfig& config = side->inputs.config;
    config.name = "tiny";
    config.model.type = "llama";
    config.model.vocab_size = 256;
    config.model.hidden_size = 64;
    config.model.layers = 2;
    config.model.heads = 4;
    config.model.kv_heads = 2;
    config.model.ffn_size = 176;
    config.data.batch_size = 2;
    config.data.sequence_length = 32;
    config.measure.steps = 20;
    side->inputs.host.cpu_model = "CPU Y";
  }
  comparison.a.label = "v1.0 (0123456789), built";
  comparison.a.worker = "/cache/a/flopmark-worker";
  comparison.a.commit = "0123456789abcdef0123456789abcdef01234567";
  comparison.b.label = "the checked-out tree (89abcdef01 with uncommitted changes), built";
  comparison.b.worker = "/cache/b/flopmark-worker";
  comparison.b.commit = "89abcdef0123456789abcdef0123456789abcdef";
  comparison.seed = 7;
  comparison.rule.gates = {{Summary::throughput, 0.01, true}, {Summary::floor, 0.01, true}};
  comparison.result.name = "tiny";
  return comparison;
}

/// Measured, judged and described.
inline PairedComparison example_comparison(FakePairs source, PairedComparison comparison = example_sides(),
                                           const DifferenceOptions& options = {}) {
  PairedPlan plan;
  plan.workloads.push_back({comparison.result.name, comparison.rule});
  plan.now_s = [&source] { return source.now_s; };
  plan.comparable = [&](size_t, const LaunchSamples& a, const LaunchSamples& b) {
    return are_comparable(paired_differences(comparison.a, {a}, comparison.b, {b}, options));
  };
  comparison.result = run_pairs(source, plan).front();
  describe(comparison, options);
  return comparison;
}

/// b does 5 % more: in backward, by an operator that is new, with another number of threads.
inline FakePairs slower_backward() {
  return FakePairs([](const PairRequest& request, size_t index) {
    LaunchPair pair = changed_by(0.05)(request, index);
    for (double& s : pair.b.samples->timed.phase_s[static_cast<size_t>(Phase::backward)]) s += 0.005;
    pair.b.samples->flops->by_operator.push_back({"aten::bmm", 4, 0, 0});
    pair.a.samples->environment.threads = 2;
    pair.b.samples->environment.threads = 1;
    pair.conditions.others_cpu_ratio = 0.01;
    pair.conditions.steal_ratio = 0.0;
    return pair;
  });
}

}  // namespace flopmark
