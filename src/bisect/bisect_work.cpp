#include "bisect/bisect_work.h"

#include <fmt/format.h>

#include "bisect/bisect_reason.h"

namespace flopmark {
namespace {

constexpr size_t kAttempts = 2;
constexpr uint64_t kSeedStride = 1000003;

PairedEvidence judged(PairedEvidence evidence, const JudgeRule& rule) {
  if (!evidence.pairs.empty()) evidence.judgement = judge_pairs(evidence.pairs, rule);
  return evidence;
}

/// Other load on the machine, or no room on it, can bring it about.
bool may_pass(const SideFailure& failure) {
  return failure.failure.kind == "timeout" || failure.failure.kind == kNotStarted;
}

/// Whether the same would come again: a commit's own fault. What may be the machine's is not kept on record.
bool is_lasting(const ComparisonRequest& request, const PairedEvidence& evidence) {
  if (!evidence.failure) return true;
  if (may_pass(*evidence.failure)) return false;
  return request.comparison == Comparison::commit && evidence.failure->side == "b";
}

PairedEvidence failed_to_build(const std::string& text) {
  PairedEvidence evidence;
  evidence.end = PairedEnd::failed;
  evidence.failure = SideFailure{"b", 1, {"error", "", std::nullopt, text}};
  return evidence;
}

}  // namespace

BisectWork::BisectWork(const BisectPlan& plan, BisectWorld& world, Journal& journal,
                       const CommitSearch& search)
    : plan_(plan), world_(world), journal_(journal), search_(search), began_s_(world.now_s()) {}

CommitBuild BisectWork::build(const std::string& commit) {
  if (const CommitBuild* known = journal_.build_of(commit)) return *known;
  CommitBuild build = build_now(commit);
  journal_.add(commit, build);
  return build;
}

CommitBuild BisectWork::build_now(const std::string& commit) {
  require_time(builds_.value_s());
  announce(BisectProgress::Activity::building, commit);
  CommitBuild build = world_.build(commit);
  present_.insert(commit);
  if (!build.from_cache) builds_.add(build.took_s);
  return build;
}

/// What an earlier run built may be gone from the cache, and not come again.
std::optional<std::string> BisectWork::missing(const std::string& commit) {
  if (present_.count(commit) > 0) return std::nullopt;
  const CommitBuild again = build_now(commit);
  if (again.built) return std::nullopt;
  return fmt::format("{} was built before, and now does not build: {}", short_hash(commit), again.why_not);
}

PairedEvidence BisectWork::measure(const ComparisonRequest& request) {
  ComparisonRequest timed = request;
  timed.seed = plan_.seed + kSeedStride * ++asked_;
  if (const PairedEvidence* known = journal_.evidence_of(request)) return judged(*known, request.rule);
  if (const auto gone = missing(request.a)) throw cut_short(*gone);
  if (const auto gone = missing(request.b)) return failed_to_build(*gone);
  require_time();
  announce(BisectProgress::Activity::comparing, request.b, request.comparison);
  timed.budget_s = budget_left_s();
  PairedEvidence evidence = judged(world_.compare(timed), request.rule);
  refuse_cut_short(request, evidence);
  comparisons_.add(evidence.took_s);
  if (is_lasting(request, evidence)) journal_.add(request, evidence);
  return evidence;
}

PairedEvidence BisectWork::measure_ends(const ComparisonRequest& request) {
  PairedEvidence evidence = measure(request);
  if (!evidence.failure || !may_pass(*evidence.failure)) return evidence;
  pause_before(request.b);
  return measure(request);
}

Answer BisectWork::answer(const Question& question) {
  Answer answer;
  std::vector<PairRatios> all;
  for (size_t attempt = 1; attempt <= kAttempts; ++attempt) {
    ComparisonRequest request{question.comparison, question.a, question.b, question.rule};
    request.attempt = attempt;
    if (attempt > 1 && !journal_.evidence_of(request)) pause_before(question.b);
    const PairedEvidence evidence = measure(request);
    answer.evidence.push_back(evidence);
    answer.failure.reset();
    if (evidence.failure) {
      answer.failure = failure_text(request, *evidence.failure);
      if (evidence.failure->side == "b" && !may_pass(*evidence.failure)) return answer;
      continue;  // good has run before, and time is the machine's too: once more
    }
    all.insert(all.end(), evidence.pairs.begin(), evidence.pairs.end());
    take(answer, evidence.pairs, question.rule);
    if (answer.verdict != Verdict::unsure || question.settled(*answer.change)) return answer;
  }
  if (!all.empty()) answer.failure.reset();
  if (answer.failure && question.comparison == Comparison::commit &&
      answer.evidence.back().failure->side == "a") {
    throw cut_short(*answer.failure);  // the commit is not to blame
  }
  if (all.size() > question.rule.looks.back()) {
    JudgeRule together = question.rule;
    together.looks = {all.size()};
    take(answer, all, together);
  }
  return answer;
}

void BisectWork::take(Answer& answer, const std::vector<PairRatios>& pairs, const JudgeRule& rule) const {
  answer.verdict = judge_pairs(pairs, rule).verdict;
  answer.pairs = pairs.size();
  answer.change = change_range(pairs, rule.gates.front().summary, rule.mid_level);
}

void BisectWork::refuse_cut_short(const ComparisonRequest& request, const PairedEvidence& evidence) const {
  if (evidence.end == PairedEnd::interrupted) throw Ended{BisectOutcome::interrupted, kInterruptedReason};
  if (evidence.end == PairedEnd::not_comparable) {
    throw Ended{BisectOutcome::not_comparable, fmt::format("{} and {} did not run on the same device",
                                                           short_hash(request.a), short_hash(request.b))};
  }
  const bool unsure = evidence.judgement.verdict == Verdict::unsure;
  if (evidence.end == PairedEnd::budget && unsure) throw cut_short("the time budget ended");
}

std::optional<double> BisectWork::budget_left_s() const {
  if (!plan_.budget_s) return std::nullopt;
  return *plan_.budget_s - (world_.now_s() - began_s_);
}

/// With what is known so far.
Ended BisectWork::cut_short(const std::string& reason) const {
  const size_t left = search_.candidates().size();
  if (left == 1) return {BisectOutcome::unconfirmed, reason + ", before the confirmation"};
  return {BisectOutcome::range, fmt::format("{}, with {} candidates left", reason, left)};
}

void BisectWork::require_time(double needed_s) const {
  if (world_.interrupted()) throw Ended{BisectOutcome::interrupted, kInterruptedReason};
  if (plan_.budget_s && *budget_left_s() <= needed_s) throw cut_short("the time budget ended");
}

void BisectWork::pause_before(const std::string& commit) {
  require_time(plan_.pause_s);
  announce(BisectProgress::Activity::pausing, commit);
  world_.pause(plan_.pause_s);
}

void BisectWork::announce(BisectProgress::Activity activity, const std::string& commit,
                          std::optional<Comparison> comparison) {
  BisectProgress progress;
  progress.activity = activity;
  progress.commit = commit;
  progress.comparison = comparison;
  progress.candidates = search_.candidates().size();
  progress.most_steps = search_.most_steps();
  if (comparisons_.count > 0) {
    const auto steps = static_cast<double>(progress.most_steps);
    progress.expected_left_s = steps * builds_.value_s() + (steps + 1) * comparisons_.value_s();
  }
  world_.begins(progress);
}

void BisectWork::Mean::add(double value_s) {
  ++count;
  sum_s += value_s;
}

double BisectWork::Mean::value_s() const {
  return count == 0 ? 0 : sum_s / static_cast<double>(count);
}

}  // namespace flopmark
