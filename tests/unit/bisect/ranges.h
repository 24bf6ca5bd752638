#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "fakes/bisect_history.h"
#include "results/commit_range.h"
#include "stats/random.h"

namespace flopmark {

/// A range from its parents, by index; those of `good` are none. Commit i has the hash of i + 1, good that of
/// 0.
inline CommitRange range_of(const std::vector<std::vector<size_t>>& parents) {
  CommitRange range;
  range.good = testing::commit_hash(0);
  for (size_t i = 0; i < parents.size(); ++i) {
    const std::string parent = parents[i].empty() ? range.good : testing::commit_hash(parents[i].front() + 1);
    range.commits.push_back({testing::commit_hash(i + 1), fmt::format("change {}", i), parent, parents[i]});
  }
  range.bad = range.commits.back().hash;
  return range;
}

/// Commits one after the other.
inline CommitRange line_of(size_t count) {
  return testing::plain_history(count).range;
}

/// Commits with one or two parents among those shortly before, and a last one that leads to all.
inline CommitRange branched_range(size_t count, Random& random) {
  std::vector<std::vector<size_t>> parents(count);
  std::vector<bool> has_child(count, false);
  for (size_t i = 1; i < count; ++i) {
    parents[i] = {i - 1 - random.index(std::min<size_t>(i, 4))};
    const size_t other = i - 1 - random.index(std::min<size_t>(i, 8));
    if (random.uniform() < 0.3 && other != parents[i].front()) parents[i].push_back(other);
    for (const size_t parent : parents[i]) has_child[parent] = true;
  }
  for (size_t i = 0; i + 1 < count; ++i) {
    if (!has_child[i]) parents[count - 1].push_back(i);
  }
  return range_of(parents);
}

/// Whether `from` is `to` or one of its ancestors, by walking every path.
inline bool leads_to(const CommitRange& range, size_t from, size_t to) {
  if (from == to) return true;
  for (const size_t parent : range.commits[to].parents) {
    if (parent >= from && leads_to(range, from, parent)) return true;
  }
  return false;
}

}  // namespace flopmark
