#include "compare/paired_session.h"

#include <algorithm>

#include "compare/launch_ratios.h"
#include "compare/spawn_order.h"
#include "compare/step_work.h"
#include "stats/random.h"

namespace flopmark {
namespace {

constexpr size_t kPairsPerRepeat = 10;

std::vector<PairRatios> ratios_of(const PairedResult& result) {
  std::vector<PairRatios> ratios;
  for (const MeasuredPair& pair : result.pairs) ratios.push_back(pair.ratios);
  return ratios;
}

/// Of equal work: per token or sample, where the steps of the two process different numbers.
PairRatios work_ratios(const LaunchSamples& a, const LaunchSamples& b) {
  const PairRatios of_steps = launch_ratios(a, b);
  const std::optional<StepWork> work = differing_work(a, b);
  return work ? work->per_unit(of_steps) : of_steps;
}

bool is_interrupted(const LaunchOutcome& outcome) {
  return outcome.status == LaunchOutcome::Status::interrupted && outcome.signal != 0;
}

bool has_failed(const LaunchOutcome& outcome) {
  return outcome.status == LaunchOutcome::Status::failed;
}

/// What went wrong on one side, if anything did. A launch that was stopped because the other one failed is
/// not at fault.
std::optional<Failure> failure_of(const LaunchOutcome& outcome, const LaunchOutcome& other) {
  if (has_failed(outcome)) {
    return outcome.failure.value_or(Failure{"error", "", std::nullopt, "the worker gave no reason"});
  }
  if (has_failed(other)) return std::nullopt;
  if (outcome.samples && launch_summaries_s(*outcome.samples)) return std::nullopt;
  return Failure{"error", "timed", std::nullopt, "the worker left no usable step times"};
}

bool is_out_of_memory(const std::optional<Failure>& failure) {
  return failure && failure->kind == "out_of_memory";
}

class Session {
 public:
  Session(PairSource& source, const PairedPlan& plan)
      : source_(source), plan_(plan), began_s_(plan.now_s()), random_(plan.seed) {
    for (const PairedPlan::Workload& workload : plan.workloads) {
      results_.emplace_back().name = workload.name;
      results_.back().has_ranks = workload.has_ranks;
      rules_.push_back(workload.rule);
      orders_.emplace_back(random_.bits());
    }
    open_.assign(results_.size(), true);
  }

  std::vector<PairedResult> run() {
    while (std::find(open_.begin(), open_.end(), true) != open_.end()) {
      for (size_t i = 0; i < results_.size(); ++i) {
        if (open_[i]) measure_pair(i);
      }
      judge_at_look();
    }
    judge();
    return std::move(results_);
  }

 private:
  size_t cap(size_t workload) const { return rules_[workload].looks.back(); }

  void close(size_t workload, PairedEnd end) {
    open_[workload] = false;
    results_[workload].end = end;
  }
  void close_all(PairedEnd end) {
    for (size_t i = 0; i < open_.size(); ++i) {
      if (open_[i]) close(i, end);
    }
  }

  /// Time of the pairs that are left at most, if each takes the mean so far.
  std::optional<double> most_left_s() const {
    if (measured_ == 0) return std::nullopt;
    size_t left = 0;
    for (size_t i = 0; i < open_.size(); ++i) left += open_[i] ? cap(i) - results_[i].pairs.size() : 0;
    const double left_s = mean_pair_s() * static_cast<double>(left);
    return plan_.budget_s ? std::min(left_s, *plan_.budget_s - elapsed_s()) : left_s;
  }
  double elapsed_s() const { return plan_.now_s() - began_s_; }
  double mean_pair_s() const { return measured_ == 0 ? 0 : elapsed_s() / static_cast<double>(measured_); }

  void measure_pair(size_t workload) {
    if (plan_.budget_s && elapsed_s() + mean_pair_s() > *plan_.budget_s) return close_all(PairedEnd::budget);
    PairedResult& result = results_[workload];
    if (plan_.pair_begins) {
      plan_.pair_begins({workload, result.name, result.pairs.size() + 1, cap(workload), most_left_s()});
    }
    PairRequest request;
    request.workload = workload;
    request.whole_launches = result.has_ranks || result.whole_launches_why.has_value();
    request.a_first = orders_[workload].a_first(request.whole_launches);
    while (open_[workload] && !take_pair(request)) {
    }
  }

  /// Whether the pair is in, or can never be; false: once more, with what `request` says now.
  bool take_pair(PairRequest& request) {
    PairedResult& result = results_[request.workload];
    request.seed = random_.bits();
    LaunchPair pair = source_.measure(request);
    ++measured_;
    const bool stopped = plan_.interrupted && plan_.interrupted();
    if (stopped || is_interrupted(pair.a) || is_interrupted(pair.b)) {
      close_all(PairedEnd::interrupted);
      return true;
    }
    const std::optional<Failure> of_a = failure_of(pair.a, pair.b), of_b = failure_of(pair.b, pair.a);
    if (!request.whole_launches && (is_out_of_memory(of_a) || is_out_of_memory(of_b))) {
      result.whole_launches_why = is_out_of_memory(of_a) ? of_a->text : of_b->text;
      request.whole_launches = true;
      request.a_first = orders_[request.workload].a_first(true);
      return false;
    }
    if (of_a || of_b) {
      result.failure = SideFailure{of_a ? "a" : "b", result.pairs.size() + 1, of_a ? *of_a : *of_b};
      close(request.workload, PairedEnd::failed);
      return true;
    }
    return keep(request, std::move(pair));
  }

  bool keep(const PairRequest& request, LaunchPair pair) {
    PairedResult& result = results_[request.workload];
    const auto disturbed = disturbance(pair.conditions);
    if (disturbed && result.repeated.size() < 1 + result.pairs.size() / kPairsPerRepeat) {
      result.repeated.push_back(*disturbed);
      return false;
    }
    MeasuredPair kept;
    kept.time = pair.time;
    kept.ratios = work_ratios(*pair.a.samples, *pair.b.samples);
    kept.a_s = *launch_summaries_s(*pair.a.samples);
    kept.b_s = *launch_summaries_s(*pair.b.samples);
    kept.a_first = request.a_first;
    kept.whole_launches = request.whole_launches;
    kept.turns = std::ssize(pair.a.samples->turns);
    kept.conditions = pair.conditions;
    kept.disturbed = disturbed;
    result.pairs.push_back(kept);
    result.launches_a.push_back(std::move(*pair.a.samples));
    result.launches_b.push_back(std::move(*pair.b.samples));
    const bool first = result.pairs.size() == 1;
    if (first && plan_.comparable &&
        !plan_.comparable(request.workload, result.launches_a.front(), result.launches_b.front())) {
      close(request.workload, PairedEnd::not_comparable);
    }
    return true;
  }

  /// After each round, if an open workload has come to a look.
  void judge_at_look() {
    const auto at_look = [&](size_t i) {
      const auto& looks = rules_[i].looks;
      return open_[i] && std::find(looks.begin(), looks.end(), results_[i].pairs.size()) != looks.end();
    };
    bool any = false;
    for (size_t i = 0; i < results_.size(); ++i) any = any || at_look(i);
    if (!any) return;
    judge();
    for (size_t i = 0; i < results_.size(); ++i) {
      if (!at_look(i)) continue;
      if (results_[i].judgement.verdict != Verdict::unsure) {
        close(i, PairedEnd::decided);
      } else if (results_[i].pairs.size() >= cap(i)) {
        close(i, PairedEnd::cap);
      }
    }
  }

  void judge() {
    std::vector<std::vector<PairRatios>> workloads;
    for (const PairedResult& result : results_) workloads.push_back(ratios_of(result));
    const std::vector<PairedJudgement> judgements = judge_suite(workloads, rules_);
    for (size_t i = 0; i < results_.size(); ++i) {
      results_[i].judgement = judgements[i];
      results_[i].looked = results_[i].pairs.size() >= rules_[i].looks.front();
    }
  }

  PairSource& source_;
  const PairedPlan& plan_;
  double began_s_;
  Random random_;
  size_t measured_ = 0;
  std::vector<PairedResult> results_;
  std::vector<JudgeRule> rules_;
  std::vector<SpawnOrder> orders_;
  std::vector<bool> open_;
};

/// Slower first; then what stops a bisection; then what skips the commit.
int weight(ExitCode code) {
  switch (code) {
    case ExitCode::interrupted:
      return 5;
    case ExitCode::slower:
      return 4;
    case ExitCode::not_comparable:
      return 3;
    case ExitCode::interference:
      return 2;
    case ExitCode::cannot_judge:
      return 1;
    default:
      return 0;
  }
}

}  // namespace

const char* to_text(PairedEnd end) {
  switch (end) {
    case PairedEnd::decided:
      return "decided";
    case PairedEnd::cap:
      return "cap";
    case PairedEnd::budget:
      return "budget";
    case PairedEnd::interrupted:
      return "interrupted";
    case PairedEnd::failed:
      return "failed";
    case PairedEnd::not_comparable:
      return "not_comparable";
  }
  return "cap";
}

size_t PairedResult::disturbed_pairs() const {
  return static_cast<size_t>(std::count_if(
      pairs.begin(), pairs.end(), [](const MeasuredPair& pair) { return pair.disturbed.has_value(); }));
}

ExitCode exit_code(const PairedResult& result) {
  if (result.end == PairedEnd::interrupted) return ExitCode::interrupted;
  if (result.end == PairedEnd::not_comparable) return ExitCode::not_comparable;
  if (result.end == PairedEnd::failed) return ExitCode::cannot_judge;
  const ExitCode code = exit_code(result.judgement.verdict);
  const bool too_noisy =
      code == ExitCode::cannot_judge && result.looked && 2 * result.disturbed_pairs() > result.pairs.size();
  return too_noisy ? ExitCode::interference : code;
}

ExitCode exit_code(const std::vector<PairedResult>& results) {
  ExitCode worst = ExitCode::ok;
  for (const PairedResult& result : results) {
    const ExitCode code = exit_code(result);
    if (weight(code) > weight(worst)) worst = code;
  }
  return worst;
}

std::vector<PairedResult> run_pairs(PairSource& source, const PairedPlan& plan) {
  return Session(source, plan).run();
}

}  // namespace flopmark
