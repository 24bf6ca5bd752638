#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "report/bisect_report.h"

namespace flopmark {

/// 12 pairs of which b takes `ratio` times as long, judged.
inline PairedEvidence example_evidence(double ratio) {
  PairedEvidence evidence;
  for (int i = 0; i < 12; ++i) {
    const double log_ratio = std::log(ratio) + 0.0001 * (i - 5.5);
    evidence.pairs.push_back({log_ratio, log_ratio, log_ratio});
  }
  evidence.judgement = judge_pairs(evidence.pairs, {});
  evidence.end = PairedEnd::decided;
  evidence.took_s = 12.5;
  return evidence;
}

inline TestedCommit example_tested(size_t commit, CommitState state, double ratio) {
  TestedCommit tested;
  tested.commit = commit;
  tested.state = state;
  tested.build = {true, "hash of " + std::to_string(commit), "", 20, false, {}};
  tested.evidence = {example_evidence(ratio)};
  tested.change = ChangeRange{ratio - 1, ratio - 1.001, ratio - 0.999};
  tested.reason = "as measured";
  return tested;
}

/// Eight commits, the fourth slower by half; one does not build, one has a hostile subject, one is
/// documentation.
inline BisectReport example_bisection() {
  BisectReport report;
  report.config = "tiny";
  report.good_reference = "v1.0";
  report.bad_reference = "main";
  report.range.good = std::string(40, 'a');
  for (int i = 0; i < 8; ++i) {
    RangeCommit commit;
    commit.hash = std::string(1, static_cast<char>('0' + i)) + std::string(39, 'b');
    commit.parent = i == 0 ? report.range.good : report.range.commits.back().hash;
    commit.subject = "Change " + std::to_string(i);
    if (i > 0) commit.parents = {static_cast<size_t>(i - 1)};
    report.range.commits.push_back(commit);
  }
  report.range.commits[3].subject =
      "Cache \x1b[31m<b>keys</b> | values of every attention block twice as long as before";
  report.range.bad = report.range.commits.back().hash;
  report.build = "make worker";
  report.artifact = "build/release/bin/flopmark-worker";
  report.builds = 6;
  report.seed = 7;
  report.took_s = 754;
  report.environment = Environment{};
  report.environment->device_name = "CPU Y";
  report.environment->threads = 2;
  report.environment->libtorch = "2.15.0";
  BisectionResult& result = report.result;
  result.outcome = BisectOutcome::confirmed;
  result.ends = {example_evidence(1.5)};
  result.regression = Regression{Summary::throughput, {0.5, 0.499, 0.501}};
  result.tested = {example_tested(5, CommitState::bad, 1.5), example_tested(2, CommitState::good, 1.0)};
  TestedCommit skipped;
  skipped.commit = 1;
  skipped.state = CommitState::skipped;
  skipped.build.why_not = "`make worker` ended with exit code 2; log: /cache/logs/1b.log";
  skipped.reason = "does not build: " + skipped.build.why_not;
  TestedCommit same = example_tested(3, CommitState::bad, 1.5);
  same.same_as = report.range.commits[5].hash;
  same.evidence.clear();
  result.tested.insert(result.tested.end(), {skipped, same});
  result.candidates = {3};
  result.parent = report.range.commits[2].hash;
  result.confirmation = {example_evidence(1.49)};
  result.confirmation.back().phases = {{"forward", 0.06, 0.09, 0.03, 0.029, 0.031, 0.3, true}};
  result.confirmation.back().operators = {{"aten::bmm", 4, 8, 1000000, 2000000}};
  result.change = ChangeRange{0.49, 0.489, 0.491};
  result.change_pairs = 12;
  result.other_halves = {{report.range.commits[5].hash, report.range.bad}};
  result.reason = "it is slower than its parent";
  report.commands = {
      {"to compare it with its parent again", "flopmark ab tiny.json --a.ref 2bb --b.ref 3bb"}};
  return report;
}

}  // namespace flopmark
