#include "cli/commit_pairs.h"

#include <fmt/format.h>

#include <chrono>
#include <sstream>
#include <thread>

#include "bisect/bisect_reason.h"
#include "cli/ab_sides.h"
#include "cli/measured_pairs.h"
#include "cli/terminal.h"
#include "compare/environment_difference.h"
#include "flopmark/error.h"
#include "hardware/environment.h"
#include "launch/build_command.h"
#include "launch/launch.h"
#include "launch/printable_text.h"

namespace flopmark {
namespace {

constexpr size_t kShownBytes = 300;
constexpr auto kPausePoll = std::chrono::milliseconds(100);

/// One line of what run_build says, which shows the end of the log too.
std::string why_not_built(const Error& error, const std::filesystem::path& log) {
  std::string text = error.what();
  text = text.substr(0, text.find('\n'));
  text = text.substr(0, text.find("; its last lines:"));
  if (const size_t begin = text.find(": "); text.starts_with("build of ")) text.erase(0, begin + 2);
  return fmt::format("{}; log: {}", printable_text(text, kShownBytes), log.string());
}

bool is_documentation(const std::filesystem::path& file) {
  const std::string extension = file.extension().string();
  return extension == ".md" || extension == ".rst" || extension == ".txt" || *file.begin() == "docs" ||
         file.filename().string().starts_with("LICENSE");
}

/// A commit whose launch cannot be had is skipped; at the ends that is the user's to mend.
bool may_be_skipped(Comparison comparison, ExitCode code) {
  const bool is_end = comparison == Comparison::ends || comparison == Comparison::ends_again;
  return !is_end && (code == ExitCode::usage || code == ExitCode::cannot_judge);
}

PairedEvidence evidence_of(const PairedComparison& comparison) {
  PairedEvidence evidence;
  const PairedResult& result = comparison.result;
  for (const MeasuredPair& pair : result.pairs) evidence.pairs.push_back(pair.ratios);
  evidence.judgement = result.judgement;
  evidence.end = result.end;
  evidence.failure = result.failure;
  evidence.disturbed_pairs = result.disturbed_pairs();
  evidence.phases = comparison.phases;
  evidence.operators = comparison.operators;
  return evidence;
}

PairedEvidence refused(const Error& error) {
  PairedEvidence evidence;
  evidence.end = PairedEnd::failed;
  evidence.failure = SideFailure{"b", 1, {kNotStarted, "", std::nullopt, error.what()}};
  return evidence;
}

}  // namespace

CommitBuild CommitPairs::build(const std::string& commit) {
  CommitBuild made;
  try {
    const BuiltArtifact built = builder_.build(commit);
    builds_ += built.from_cache ? 0 : 1;
    made.took_s = built.build_s;
    made.from_cache = built.from_cache;
    made.artifact_hash = built.hash;
    require_loading(built);
    made.notes = doubts(commit, built.hash);
    made.built = true;
  } catch (const Error& error) {
    if (error.code() != ExitCode::cannot_judge) throw;
    made.why_not = why_not_built(error, builder_.log(commit));
    made.lasting = dynamic_cast<const FailedBuild*>(&error) != nullptr;
    narrator_.wipe();
    write_warning(error.what());
  }
  return made;
}

/// A model is loaded by the worker in its first launch.
void CommitPairs::require_loading(const BuiltArtifact& built) const {
  if (is_model_file(measuring_.artifact)) return;
  try {
    ask_worker_version(worker_of(built));
  } catch (const Error& error) {
    if (error.code() != ExitCode::usage) throw;
    throw judge_error(error.what());
  }
}

std::filesystem::path CommitPairs::worker_of(const BuiltArtifact& built) const {
  return find_worker(is_model_file(measuring_.artifact) ? measuring_.worker : built.file);
}

/// Bytes that did not change although code did: a build that leaves what was there looks so.
std::vector<std::string> CommitPairs::doubts(const std::string& commit, const std::string& hash) {
  const auto [same, is_new] = commits_by_hash_.try_emplace(hash, commit);
  if (is_new || same->second == commit) return {};
  const GitProgram::Answer changed =
      git_.ask({"diff", "--name-only", "--no-renames", "-z", same->second, commit, "--"});
  std::istringstream files(changed.ok ? changed.text : "");
  for (std::string file; std::getline(files, file, '\0');) {
    if (file.empty() || is_documentation(file)) continue;
    const std::string doubt = fmt::format(
        "{} makes the same bytes as {}, though {} differs: if that is part of {}, the build leaves the old "
        "one",
        short_hash(commit), short_hash(same->second), printable_text(file, kShownBytes),
        measuring_.artifact.string());
    narrator_.wipe();
    write_warning(doubt);
    return {doubt};
  }
  return {};
}

PairedSide CommitPairs::side(const std::string& commit) {
  const BuiltArtifact built = builder_.build(commit);
  PairedSide made;
  made.label = short_hash(commit);
  made.commit = commit;
  made.inputs = measuring_.inputs;
  made.worker = worker_of(built).string();
  if (is_model_file(measuring_.artifact)) {
    RunConfig& config = made.inputs.config;
    for (const std::string& key : artifact_keys(config, measuring_.artifact)) {
      (key == "model.plugin"     ? config.model.plugin
       : key == "data.plugin"    ? config.data.plugin
       : key == "model.exported" ? config.model.exported
                                 : config.model.torchscript) = built.file.string();
    }
  }
  return made;
}

/// Whether a build that was measured before still runs on what it ran on then.
bool CommitPairs::is_same_machine(const std::string& commit, const Environment& now) {
  if (!environment_) environment_ = now;
  const auto [known, is_new] = environments_.try_emplace(commit, now);
  RunRecord before, after;
  before.environment = known->second;
  after.environment = now;
  return is_new || are_comparable(environment_differences(before, after, measuring_.differences));
}

PairedEvidence CommitPairs::compare(const ComparisonRequest& request) {
  const double begun_s = now_s();
  PairedEvidence evidence;
  try {
    std::vector<PairedComparison> comparisons(1);
    PairedComparison& comparison = comparisons.front();
    comparison.a = side(request.a);
    comparison.b = side(request.b);
    comparison.rule = request.rule;
    comparison.seed = request.seed;
    comparison.result.name = measuring_.inputs.config.name;
    measure_pairs(comparisons, {request.budget_s, measuring_.differences, measuring_.interrupted,
                                [this](const PairedProgress& at) { narrator_.pair_begins(at); }});
    describe(comparison, measuring_.differences);
    evidence = evidence_of(comparison);
    if (!comparison.result.launches_a.empty()) {
      const Environment& of_launch = comparison.result.launches_a.front().environment;
      if (!is_same_machine(request.a, merge_environment(measuring_.inputs.host, of_launch)))
        evidence.end = PairedEnd::not_comparable;
    }
  } catch (const Error& error) {
    if (!may_be_skipped(request.comparison, error.code())) throw;
    evidence = refused(error);
  }
  evidence.took_s = now_s() - begun_s;
  narrator_.compared(evidence);
  return evidence;
}

void CommitPairs::pause(double duration_s) {
  const double end_s = now_s() + duration_s;
  while (now_s() < end_s && !interrupted()) std::this_thread::sleep_for(kPausePoll);
}

double CommitPairs::now_s() {
  return monotonic_s();
}

}  // namespace flopmark
