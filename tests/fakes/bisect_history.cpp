#include "fakes/bisect_history.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace flopmark::testing {
namespace {

constexpr double kBuild_s = 10, kPair_s = 1;
constexpr double kImprovementOfStep = -0.25, kSecondOfStep = 0.5;

size_t index_of(const std::string& hash) {
  return std::stoull(hash.substr(hash.size() - 8), nullptr, 16) - 1;
}

/// A commit that is none of the given ones and not the last.
size_t another(size_t count, const std::vector<size_t>& taken, Random& random) {
  while (true) {
    const size_t drawn = random.index(count - 1);
    if (std::find(taken.begin(), taken.end(), drawn) == taken.end()) return drawn;
  }
}

}  // namespace

std::string commit_hash(size_t number) {
  return fmt::format("{:040x}", number);
}

const BisectHistory::Commit& BisectHistory::at(const std::string& hash) const {
  static const Commit kGood{0, true, false, "artifact of good"};
  return hash == range.good ? kGood : commits.at(index_of(hash));
}

double BisectHistory::level_ratio(const std::string& hash) const {
  return at(hash).level_ratio;
}

BisectHistory plain_history(size_t count) {
  BisectHistory history;
  history.range.good = commit_hash(0);
  for (size_t i = 0; i < count; ++i) {
    std::vector<size_t> parents;
    if (i > 0) parents.push_back(i - 1);
    history.range.commits.push_back(
        {commit_hash(i + 1), fmt::format("change {}", i), commit_hash(i), parents});
    history.commits.push_back({0, true, false, fmt::format("artifact {}", i)});
  }
  history.range.bad = history.range.commits.back().hash;
  return history;
}

void add_step(BisectHistory& history, size_t from, double step_ratio) {
  for (size_t i = from; i < history.commits.size(); ++i) {
    double& level_ratio = history.commits[i].level_ratio;
    level_ratio = (1 + level_ratio) * (1 + step_ratio) - 1;
  }
  if (step_ratio > 0) history.steps.push_back(from);
}

void make_docs_only(BisectHistory& history, size_t commit) {
  history.commits[commit] = commit == 0 ? history.at(history.range.good) : history.commits[commit - 1];
}

BisectHistory drawn_history(const HistoryShape& shape, Random& random) {
  BisectHistory history = plain_history(shape.commits);
  std::vector<size_t> special{random.index(shape.commits)};
  add_step(history, special.front(), shape.step_ratio);
  if (shape.second_step) {
    special.push_back(another(shape.commits, special, random));
    add_step(history, special.back(), shape.step_ratio * kSecondOfStep);
  }
  if (shape.improvement) {
    special.push_back(another(shape.commits, special, random));
    add_step(history, special.back(), shape.step_ratio * kImprovementOfStep);
  }
  if (shape.crash) history.commits[another(shape.commits, {}, random)].crashes = true;
  for (size_t i = 0; i < shape.commits; ++i) {
    const double lot = random.uniform();
    const bool is_special = std::find(special.begin(), special.end(), i) != special.end();
    const bool is_last = i + 1 == shape.commits;
    if (lot < shape.unbuildable_share && !is_last) history.commits[i].builds = false;
    const bool docs = lot >= shape.unbuildable_share && lot < shape.unbuildable_share + shape.docs_share;
    if (docs && !is_special && !is_last) make_docs_only(history, i);
  }
  return history;
}

CommitBuild HistoryWorld::build(const std::string& commit) {
  if (++events == killed_at) throw Killed{};
  if (events == interrupted_at) throw Error(ExitCode::interrupted, "interrupted");
  const BisectHistory::Commit& truth = history_.at(commit);
  CommitBuild build;
  build.built = truth.builds && gone.count(commit) == 0;
  build.from_cache = cache.count(commit) > 0;
  if (!build.from_cache) {
    clock_s += kBuild_s;
    build.took_s = kBuild_s;
    built.push_back(commit);
  }
  if (build.built) {
    build.artifact_hash = truth.artifact;
    cache.insert(commit);
  } else {
    build.why_not = "`make` ended with 2";
  }
  return build;
}

PairedEvidence HistoryWorld::compare(const ComparisonRequest& request) {
  if (++events == killed_at) throw Killed{};
  PairedEvidence evidence;
  if (events == interrupted_at) {
    evidence.end = PairedEnd::interrupted;
    return evidence;
  }
  compared.push_back(request);
  if (fails) evidence.failure = fails(request);
  if (evidence.failure) {
    evidence.end = PairedEnd::failed;
    return evidence;
  }
  for (const bool is_a : {true, false}) {
    if (!history_.at(is_a ? request.a : request.b).crashes) continue;
    evidence.end = PairedEnd::failed;
    evidence.failure = SideFailure{is_a ? "a" : "b", 1, {"crash", "timed", 3, "signal 11"}};
    return evidence;
  }
  const double change_ratio =
      (1 + history_.level_ratio(request.b)) / (1 + history_.level_ratio(request.a)) - 1;
  const double began_s = clock_s;
  evidence.end = PairedEnd::cap;
  for (const size_t look : request.rule.looks) {
    const size_t wanted = look - evidence.pairs.size();
    const bool too_long =
        request.budget_s && began_s + *request.budget_s < clock_s + kPair_s * double(wanted);
    if (too_long) evidence.end = PairedEnd::budget;
    if (too_long) break;
    const std::vector<PairRatios> more = measure_(request, wanted, change_ratio);
    evidence.pairs.insert(evidence.pairs.end(), more.begin(), more.end());
    clock_s += kPair_s * static_cast<double>(wanted);
    pairs += wanted;
    if (comparable_no_more.count(request.b) > 0)
      evidence.end = PairedEnd::not_comparable;
    else if (decide_pairs(evidence.pairs, request.rule).verdict != Verdict::unsure)
      evidence.end = PairedEnd::decided;
    if (evidence.end != PairedEnd::cap) break;
  }
  evidence.took_s = clock_s - began_s;
  return evidence;
}

HistoryWorld::Measure normal_pairs(double sd) {
  return [=, drawn = Random(0), of = uint64_t{0}](const ComparisonRequest& request, size_t count,
                                                  double change_ratio) mutable {
    if (of != request.seed) drawn = Random(of = request.seed);
    std::vector<PairRatios> pairs;
    for (size_t i = 0; i < count; ++i) {
      const double value = std::log1p(change_ratio) + sd * drawn.normal();
      pairs.push_back({value, value, value});
    }
    return pairs;
  };
}

bool names_a_step(const BisectionResult& result, const BisectHistory& history) {
  return std::any_of(history.steps.begin(), history.steps.end(), [&](size_t step) {
    return std::find(result.candidates.begin(), result.candidates.end(), step) != result.candidates.end();
  });
}

}  // namespace flopmark::testing
