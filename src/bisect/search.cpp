#include "bisect/search.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "stats/random.h"

namespace flopmark {
namespace {

constexpr double kTowardsBest = 1.5;  // how much more often a commit near the best one follows a skip

/// Which of `count` commits, the best first, to test where a better one was skipped: by chance, since what
/// breaks one tends to break its neighbours too, but the same every time.
size_t away_from_skipped(size_t count, size_t skipped) {
  const double along = std::pow(Random(count + skipped).uniform(), kTowardsBest);
  return static_cast<size_t>(along * static_cast<double>(count));
}

}  // namespace

const char* to_text(CommitState state) {
  switch (state) {
    case CommitState::untested:
      return "untested";
    case CommitState::good:
      return "good";
    case CommitState::bad:
      return "bad";
    case CommitState::skipped:
      return "skipped";
  }
  return "untested";
}

CommitSearch::CommitSearch(const CommitRange& range)
    : commits_(&range.commits),
      states_(range.commits.size(), CommitState::untested),
      known_good_(range.commits.size(), false),
      first_bad_(range.commits.size() - 1) {
  states_[first_bad_] = CommitState::bad;
  narrow();
}

void CommitSearch::mark(size_t commit, CommitState state) {
  states_.at(commit) = state;
  if (state == CommitState::good) {
    const std::vector<bool> good = ancestors_of(commit);
    for (size_t i = 0; i < good.size(); ++i) known_good_[i] = known_good_[i] || good[i];
  }
  if (state == CommitState::bad) first_bad_ = commit;
  narrow();
}

/// `commit` itself included.
std::vector<bool> CommitSearch::ancestors_of(size_t commit) const {
  std::vector<bool> reached(commits_->size(), false);
  reached[commit] = true;
  for (size_t i = commit + 1; i-- > 0;) {
    if (!reached[i]) continue;
    for (const size_t parent : (*commits_)[i].parents) reached[parent] = true;
  }
  return reached;
}

void CommitSearch::narrow() {
  const std::vector<bool> suspects = ancestors_of(first_bad_);
  candidates_.clear();
  for (size_t i = 0; i < commits_->size(); ++i) {
    if (suspects[i] && !known_good_[i]) candidates_.push_back(i);
  }
}

/// Of each candidate, how many it leads back to, itself included: what is ruled out if it is good.
std::vector<size_t> CommitSearch::reached_candidates() const {
  std::vector<bool> is_candidate(commits_->size(), false);
  for (const size_t i : candidates_) is_candidate[i] = true;
  std::vector<size_t> reached(commits_->size(), 0);
  for (const size_t i : candidates_) {
    std::vector<size_t> parents;
    std::copy_if((*commits_)[i].parents.begin(), (*commits_)[i].parents.end(), std::back_inserter(parents),
                 [&](size_t parent) { return is_candidate[parent]; });
    if (parents.size() < 2) {  // a line: no need to walk it
      reached[i] = 1 + (parents.empty() ? 0 : reached[parents.front()]);
      continue;
    }
    const std::vector<bool> ancestors = ancestors_of(i);
    reached[i] = static_cast<size_t>(std::count_if(candidates_.begin(), candidates_.end(),
                                                   [&](size_t other) { return ancestors[other]; }));
  }
  return reached;
}

std::optional<size_t> CommitSearch::next() const {
  const std::vector<size_t> reached = reached_candidates();
  const auto halving = [&](size_t i) { return std::min(reached[i], candidates_.size() - reached[i]); };
  std::vector<size_t> best_first = candidates_;
  std::erase(best_first, first_bad_);
  std::stable_sort(best_first.begin(), best_first.end(),
                   [&](size_t a, size_t b) { return halving(a) > halving(b); });
  const bool away = !best_first.empty() && states_[best_first.front()] == CommitState::skipped;
  const size_t skipped =
      std::erase_if(best_first, [&](size_t i) { return states_[i] == CommitState::skipped; });
  if (best_first.empty()) return std::nullopt;
  return away ? best_first[away_from_skipped(best_first.size(), skipped)] : best_first.front();
}

size_t CommitSearch::most_steps() const {
  return static_cast<size_t>(std::bit_width(candidates_.size() - 1));
}

}  // namespace flopmark
