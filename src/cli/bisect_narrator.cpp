#include "cli/bisect_narrator.h"

#include <fmt/format.h>

#include <algorithm>

#include "bisect/bisect_reason.h"
#include "cli/terminal.h"
#include "compare/paired_reason.h"
#include "flopmark/counted.h"
#include "launch/printable_text.h"
#include "launch/progress_line.h"

namespace flopmark {
namespace {

constexpr size_t kShownSubjectBytes = 50;

std::string activity_text(const BisectProgress& progress, const std::string& name) {
  using Activity = BisectProgress::Activity;
  if (progress.activity == Activity::pausing) return "no answer yet; after a pause once more: " + name;
  return "measuring " + name;
}

/// The change of the first summary that decides, and what it rests on.
std::string change_text(const PairedEvidence& evidence) {
  if (evidence.failure) return "failed: " + evidence.failure->failure.kind;
  const auto& summaries = evidence.judgement.summaries;
  const auto gate =
      std::find_if(summaries.begin(), summaries.end(), [](const auto& each) { return each.gates; });
  if (gate == summaries.end()) return "nothing measured";
  return fmt::format("{} {} by {}", step_time_name(gate->summary), signed_percent(gate->change_ratio),
                     counted(std::ssize(evidence.pairs), "pair"));
}

}  // namespace

BisectNarrator::BisectNarrator(const CommitRange& range, bool quiet, std::vector<size_t> looks)
    : quiet_(quiet), pairs_(quiet, std::move(looks)) {
  for (const RangeCommit& commit : range.commits) subjects_[commit.hash] = commit.subject;
  subjects_.try_emplace(range.good, "(good)");
}

std::string BisectNarrator::name_of(const std::string& commit) const {
  const auto subject = subjects_.find(commit);
  const std::string digits = short_hash(commit);
  return subject == subjects_.end() ? digits
                                    : digits + " " + printable_text(subject->second, kShownSubjectBytes);
}

void BisectNarrator::begins(const BisectProgress& progress) {
  if (progress.activity == BisectProgress::Activity::building) return;
  std::string line = activity_text(progress, name_of(progress.commit));
  const bool is_search = progress.comparison == Comparison::commit;
  if (is_search) line += fmt::format(" ({})", left_text(progress));
  tell(line);
}

void BisectNarrator::compared(const PairedEvidence& evidence) {
  tell("  " + change_text(evidence));
}

void BisectNarrator::tell(const std::string& line) {
  pairs_.wipe();
  if (!quiet_) write_note(line);
}

std::string left_text(const BisectProgress& progress) {
  std::string text =
      fmt::format("{}, {} to test at most", counted(static_cast<int64_t>(progress.candidates), "candidate"),
                  counted(static_cast<int64_t>(progress.most_steps), "commit"));
  if (progress.expected_left_s) text += fmt::format(", about {}", wait_text(*progress.expected_left_s));
  return text;
}

}  // namespace flopmark
