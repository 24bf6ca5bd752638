#include "bisect/bisection.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "bisect/bisect_reason.h"
#include "bisect/bisect_work.h"

namespace flopmark {
namespace {

class Bisection {
 public:
  Bisection(const CommitRange& range, const BisectPlan& plan, BisectWorld& world, Journal& journal)
      : range_(range), plan_(plan), search_(range), work_(plan, world, journal, search_) {}

  BisectionResult run() {
    try {
      check_ends();
      search();
      conclude();
    } catch (const Ended& ended) {
      result_.outcome = ended.outcome;
      result_.reason = ended.reason;
    } catch (const Error& error) {
      if (error.code() != ExitCode::interrupted) throw;
      result_.outcome = BisectOutcome::interrupted;
      result_.reason = kInterruptedReason;
    }
    result_.candidates = search_.candidates();
    return_what_was_not_judged_anew();
    return std::move(result_);
  }

 private:
  /// What was measured is told, also where the search for a first step came past it.
  void return_what_was_not_judged_anew() {
    for (TestedCommit& old : judged_before_) {
      const bool anew = std::any_of(result_.tested.begin(), result_.tested.end(),
                                    [&](const TestedCommit& each) { return each.commit == old.commit; });
      if (!anew) result_.tested.push_back(std::move(old));
    }
  }

  // ---- ends

  void check_ends() {
    result_.good_build = work_.build(range_.good);
    require_built(range_.good, result_.good_build);
    result_.bad_build = work_.build(range_.bad);
    require_built(range_.bad, result_.bad_build);
    if (result_.good_build.artifact_hash == result_.bad_build.artifact_hash) {
      throw Ended{BisectOutcome::not_reproduced, "good and bad build to the same bytes: nothing to compare"};
    }
    std::vector<PairRatios> pairs = measured_ends(Comparison::ends, ends_rule()).pairs;
    require_regression(pairs, false);
    if (!result_.regression->is_clear()) {
      // A close call. Its estimate is more often too high than too low, so fresh pairs have a say.
      const JudgeRule rule = mid_rule(result_.regression->gate, result_.regression->mid_ratio());
      const PairedEvidence again = measured_ends(Comparison::ends_again, rule);
      pairs.insert(pairs.end(), again.pairs.begin(), again.pairs.end());
      require_regression(pairs, true);
    }
  }

  void require_regression(const std::vector<PairRatios>& pairs, bool clear) {
    JudgeRule rule = ends_rule();
    rule.looks = {pairs.size()};
    const PairedJudgement judgement = judge_pairs(pairs, rule);
    result_.regression = regression_of(pairs, judgement, plan_.least_ratio, plan_.level);
    if (result_.regression && (!clear || result_.regression->is_clear())) return;
    const Summary gate = result_.regression ? result_.regression->gate : sharpest_gate(judgement);
    result_.regression.reset();
    result_.smallest_traceable_ratio = smallest_traceable(judgement, plan_.least_ratio);
    throw Ended{BisectOutcome::not_reproduced,
                ends_reason(judgement, change_range(pairs, gate, plan_.level), plan_.least_ratio,
                            *result_.smallest_traceable_ratio)};
  }

  PairedEvidence measured_ends(Comparison comparison, const JudgeRule& rule) {
    const ComparisonRequest request{comparison, range_.good, range_.bad, rule};
    PairedEvidence evidence = work_.measure_ends(request);
    result_.ends.push_back(evidence);
    if (evidence.failure) {
      throw Ended{BisectOutcome::not_measured, failure_text(request, *evidence.failure)};
    }
    return evidence;
  }

  static void require_built(const std::string& commit, const CommitBuild& build) {
    if (build.built) return;
    throw Ended{BisectOutcome::not_measured,
                fmt::format("{} does not build: {}", short_hash(commit), build.why_not)};
  }

  // ---- search

  void search() {
    known_[result_.good_build.artifact_hash] = {range_.good, CommitState::good, {}, false, {}};
    known_[result_.bad_build.artifact_hash] = {range_.bad, CommitState::bad, {}, false, {}};
    while (const std::optional<size_t> next = search_.next()) test(*next);
  }

  void test(size_t commit) {
    TestedCommit tested;
    tested.commit = commit;
    const std::string& hash = range_.commits[commit].hash;
    tested.build = work_.build(hash);
    const auto known = known_.find(tested.build.artifact_hash);
    if (!tested.build.built) {
      tested.state = CommitState::skipped;
      tested.reason = "does not build: " + tested.build.why_not;
    } else if (known != known_.end()) {
      take_over(tested, known->second);
    } else {
      measure(tested);
      known_[tested.build.artifact_hash] = {hash, tested.state, tested.change, tested.intermediate,
                                            tested.reason};
    }
    search_.mark(commit, tested.state);
    result_.tested.push_back(std::move(tested));
    note_other_halves();
  }

  struct Known {
    std::string commit;
    CommitState state = CommitState::untested;
    std::optional<ChangeRange> change;
    bool intermediate = false;
    std::string reason;
  };

  static void take_over(TestedCommit& tested, const Known& known) {
    tested.state = known.state;
    tested.same_as = known.commit;
    tested.change = known.change;
    tested.intermediate = known.intermediate;
    tested.reason = fmt::format("the same bytes as {}", short_hash(known.commit));
    if (!known.reason.empty()) tested.reason += ": " + known.reason;
  }

  void measure(TestedCommit& tested) {
    const auto first =
        measured_.try_emplace(tested.build.artifact_hash, range_.commits[tested.commit].hash).first;
    const double mid_ratio = result_.regression->mid_ratio();
    Question question{Comparison::commit, range_.good, first->second,
                      mid_rule(result_.regression->gate, mid_ratio)};
    question.settled = [&](const ChangeRange& change) { return is_first_step(change); };
    Answer answer = work_.answer(question);
    tested.evidence = std::move(answer.evidence);
    tested.change = answer.change;
    tested.intermediate =
        answer.change && is_intermediate(*answer.change, *result_.regression, plan_.least_ratio);
    if (answer.failure) {
      tested.state = CommitState::skipped;
      tested.reason = *answer.failure;
      return;
    }
    tested.state = answer.verdict == Verdict::slower   ? CommitState::bad
                   : answer.verdict != Verdict::unsure ? CommitState::good
                                                       : CommitState::skipped;
    tested.reason = verdict_reason(tested.state, *answer.change, answer.pairs, mid_ratio);
    if (tested.state == CommitState::skipped && is_first_step(*answer.change)) look_for_first_step(tested);
  }

  /// Of a commit half way up: whether its own step can be traced as well.
  bool is_first_step(const ChangeRange& change) const {
    return is_intermediate(change, *result_.regression, plan_.least_ratio) &&
           Regression{result_.regression->gate, change}.is_clear();
  }

  /// Half way up, and that is not noise: a step before it and a step after it. The first one is looked for.
  /// What was good or undecided before may be beyond half of it, and is then judged anew, by the pairs it has
  /// and by more if need be.
  void look_for_first_step(TestedCommit& tested) {
    tested.state = CommitState::bad;
    tested.reason +=
        ", but surely slower than good and faster than bad: from here on the first step is looked for";
    result_.regression->change = *tested.change;
    const double mid_ratio = result_.regression->mid_ratio();
    const auto is_open = [&](CommitState state, const std::optional<ChangeRange>& change) {
      return state != CommitState::bad && change && change->high_ratio.value_or(mid_ratio) >= mid_ratio;
    };
    std::erase_if(known_,
                  [&](const auto& entry) { return is_open(entry.second.state, entry.second.change); });
    const auto open =
        std::stable_partition(result_.tested.begin(), result_.tested.end(),
                              [&](const TestedCommit& old) { return !is_open(old.state, old.change); });
    std::move(open, result_.tested.end(), std::back_inserter(judged_before_));
    result_.tested.erase(open, result_.tested.end());
    search_ = CommitSearch(range_);
    for (const TestedCommit& old : result_.tested) search_.mark(old.commit, old.state);
  }

  void note_other_halves() {
    std::optional<size_t> before, after;
    for (const TestedCommit& tested : result_.tested) {
      if (!tested.intermediate || tested.state == CommitState::skipped) continue;
      std::optional<size_t>& half = tested.state == CommitState::good ? before : after;
      const bool narrower = !half || (tested.state == CommitState::good) == (tested.commit < *half);
      if (narrower) half = tested.commit;
    }
    result_.other_halves.clear();
    if (before) result_.other_halves.push_back({range_.good, range_.commits[*before].hash});
    if (after) result_.other_halves.push_back({range_.commits[*after].hash, range_.bad});
  }

  // ---- conclusion

  void conclude() {
    result_.candidates = search_.candidates();
    if (result_.candidates.size() > 1) {
      throw Ended{BisectOutcome::range, candidates_reason(range_, result_)};
    }
    const RangeCommit& culprit = range_.commits[result_.candidates.front()];
    result_.parent = culprit.parent;
    if (culprit.parent.empty()) {
      throw Ended{BisectOutcome::unconfirmed,
                  fmt::format("{} has no parent to compare it with", short_hash(culprit.hash))};
    }
    const CommitBuild parent = work_.build(culprit.parent), own = work_.build(culprit.hash);
    if (!parent.built) {
      throw Ended{BisectOutcome::unconfirmed,
                  fmt::format("{}, the parent of {}, does not build: {}", short_hash(culprit.parent),
                              short_hash(culprit.hash), parent.why_not)};
    }
    if (parent.artifact_hash == own.artifact_hash) {
      throw Ended{
          BisectOutcome::unconfirmed,
          fmt::format("{} builds to the same bytes as its parent {}: what made it slower than good came in "
                      "elsewhere",
                      short_hash(culprit.hash), short_hash(culprit.parent))};
    }
    confirm(culprit);
  }

  void confirm(const RangeCommit& culprit) {
    JudgeRule rule = mid_rule(result_.regression->gate, 0);
    // Two attempts, and both together once more: the level is that of all looks.
    rule.mid_level = plan_.level / static_cast<double>(2 * plan_.looks.size() + 1);
    const Answer answer = work_.answer({Comparison::confirmation, culprit.parent, culprit.hash, rule});
    result_.confirmation = answer.evidence;
    result_.change = answer.change;
    result_.change_pairs = answer.pairs;
    if (answer.failure) throw Ended{BisectOutcome::unconfirmed, *answer.failure};
    result_.outcome =
        answer.verdict == Verdict::slower ? BisectOutcome::confirmed : BisectOutcome::unconfirmed;
    result_.reason = confirmation_reason(range_, result_, answer.pairs);
  }

  JudgeRule ends_rule() const {
    JudgeRule rule = mid_rule(Summary::throughput, plan_.least_ratio);
    rule.gates.clear();
    for (const Summary summary : plan_.gates) rule.gates.push_back({summary});
    return rule;
  }
  JudgeRule mid_rule(Summary gate, double mid_ratio) const {
    JudgeRule rule;
    rule.gates = {{gate}};
    rule.looks = plan_.looks;
    rule.mid_ratio = mid_ratio;
    rule.mid_level = plan_.level;
    return rule;
  }
  const CommitRange& range_;
  const BisectPlan& plan_;
  CommitSearch search_;
  BisectWork work_;
  std::map<std::string, Known> known_;           // by artifact
  std::vector<TestedCommit> judged_before_;      // against a larger step than is looked for now
  std::map<std::string, std::string> measured_;  // artifact to the commit whose build of it is measured
  BisectionResult result_;
};

}  // namespace

BisectionResult run_bisection(const CommitRange& range, const BisectPlan& plan, BisectWorld& world,
                              Journal& journal) {
  return Bisection(range, plan, world, journal).run();
}

}  // namespace flopmark
