#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "bisect/bisection.h"
#include "stats/random.h"

namespace flopmark::testing {

/// 40 hex digits that end in `number`.
std::string commit_hash(size_t number);

/// Commits with known truth. Commit i has the hash of i + 1, good that of 0.
struct BisectHistory {
  struct Commit {
    double level_ratio = 0;  ///< how much slower than good its steps are
    bool builds = true;
    bool crashes = false;
    std::string artifact;  ///< equal ones are equally fast
  };
  CommitRange range;
  std::vector<Commit> commits;
  std::vector<size_t> steps;  ///< which commits are slower than their parents

  const Commit& at(const std::string& hash) const;  ///< of good: as it is built by default
  double level_ratio(const std::string& hash) const;
};

/// Commits in a line, all as fast as good and each with an artifact of its own.
BisectHistory plain_history(size_t count);
/// From commit `from` on everything is slower by this, on top of what is there.
void add_step(BisectHistory& history, size_t from, double step_ratio);
/// The commit changes no program: as its parent in everything.
void make_docs_only(BisectHistory& history, size_t commit);

struct HistoryShape {
  size_t commits = 64;
  double step_ratio = 0.05;
  double unbuildable_share = 0.15, docs_share = 0.10;
  bool crash = true;         ///< one commit does
  bool improvement = true;   ///< one makes it faster, by a quarter of the step
  bool second_step = false;  ///< one more, half as large
};

/// A history with all of this in places drawn by lot; a commit that is a step may be unbuildable.
BisectHistory drawn_history(const HistoryShape& shape, Random& random);

/// Thrown by a world in place of the event that kills the process.
struct Killed {};

/// A repository and a machine made of a history and a source of pairs. A build takes 10 s, a pair 1 s.
class HistoryWorld : public BisectWorld {
 public:
  /// `count` pairs of two builds of which b takes 1 + `change_ratio` times as long as a.
  using Measure =
      std::function<std::vector<PairRatios>(const ComparisonRequest&, size_t count, double change_ratio)>;
  HistoryWorld(const BisectHistory& history, Measure measure)
      : history_(history), measure_(std::move(measure)) {}

  CommitBuild build(const std::string& commit) override;
  PairedEvidence compare(const ComparisonRequest& request) override;
  void pause(double duration_s) override { clock_s += duration_s; }
  double now_s() override { return clock_s; }
  bool interrupted() override { return is_interrupted; }
  void begins(const BisectProgress& progress) override { announced.push_back(progress); }

  std::vector<std::string> built;           ///< not from the cache
  std::vector<ComparisonRequest> compared;  ///< to their end
  std::vector<BisectProgress> announced;
  size_t pairs = 0;
  double clock_s = 0;
  bool is_interrupted = false;
  size_t events = 0;                ///< builds and comparisons so far
  std::optional<size_t> killed_at;  ///< in place of this event, from 1
  /// Launches that fail although the commit is sound; absent: none does.
  std::function<std::optional<SideFailure>(const ComparisonRequest&)> fails;
  std::optional<size_t> interrupted_at;      ///< during this event, from 1
  std::set<std::string> cache;               ///< commits whose build is kept
  std::set<std::string> comparable_no_more;  ///< commits that run on another device
  std::set<std::string> gone;                ///< commits that do not build any more

 private:
  const BisectHistory& history_;
  Measure measure_;
};

/// Normal noise of `sd` from pair to pair, the same for the same request.
HistoryWorld::Measure normal_pairs(double sd);

/// Whether the answer names a true step, alone or among others.
bool names_a_step(const BisectionResult& result, const BisectHistory& history);

}  // namespace flopmark::testing
