#include "cli/ab_sides.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/terminal.h"
#include "config/model_ending.h"
#include "config/run_config.h"
#include "hardware/environment.h"
#include "launch/build_command.h"
#include "launch/launch.h"
#include "launch/reference_build.h"
#include "results/baseline_store.h"
#include "results/git.h"
#include "results/peak_files.h"

namespace flopmark {
namespace {

namespace fs = std::filesystem;

constexpr size_t kShownCommitDigits = 10;
constexpr const char* kBuiltWorker = "build/release/bin/flopmark-worker";

std::vector<std::string> joined(std::vector<std::string> sets, const std::vector<std::string>& more) {
  sets.insert(sets.end(), more.begin(), more.end());
  return sets;
}

bool is_library(const fs::path& artifact) {
  return model_ending(artifact) == ".so";
}

std::string build_label(const AbSideOptions& side, const std::string& commit, const Subject& tree) {
  const std::string short_commit = commit.substr(0, kShownCommitDigits);
  if (!side.reference.empty()) return fmt::format("{} ({}), built", side.reference, short_commit);
  return tree.commit == commit ? fmt::format("the checked-out tree ({}), built", short_commit)
                               : fmt::format("the checked-out tree ({} with uncommitted changes), built",
                                             tree.commit.value_or("").substr(0, kShownCommitDigits));
}

struct SideChoice {
  const AbSideOptions& side;
  const AbSideOptions& other;
  const char* name;
};

/// A worker that is built cannot be given, too.
void require_one_worker(const SideChoice& choice, const fs::path& artifact) {
  if (choice.side.reference.empty() || choice.side.worker.empty() || is_model_file(artifact)) return;
  throw usage_error(fmt::format("--{0}.ref and --{0}.worker both say what side {0} is; leave one of them out",
                                choice.name));
}

/// Builds the side and names what came of it; returns what the config must be told of it.
std::vector<std::string> build_side(PairedSide& made, const std::string& config, const AbOptions& options,
                                    const SideChoice& choice, const AbBuilds& builds) {
  const AbSideOptions &side = choice.side, &other = choice.other;
  const fs::path top = compared_tree(config);
  if (top.empty()) {
    throw usage_error(
        fmt::format("{}: commits can only be built in a Git tree, and neither the current folder nor "
                    "the config's lies in one",
                    side.reference.empty() ? "--build" : side.reference));
  }
  BuildRequest request;
  request.top = top;
  request.commit = side.reference.empty() ? "" : commit_of(top, side.reference);
  request.command = options.build;
  request.artifact = options.artifact;
  const RunConfig loaded = load_config(config, joined(options.sets, side.sets));
  if (request.artifact.empty()) request.artifact = default_artifact(loaded, top);
  require_one_worker(choice, request.artifact);
  request.cache = build_cache();
  request.scratch = builds.scratch;
  request.interrupted = builds.interrupted;
  request.builds = builds.builds;
  request.waits = builds.waits;
  const BuiltReference built = build_reference(request);
  made.commit = built.commit;
  made.label = build_label(side, built.commit, inspect_tree(top));
  if (is_model_file(request.artifact)) {
    made.worker = find_worker(side.worker.empty() ? other.worker : side.worker).string();
    std::vector<std::string> sets;
    for (const std::string& key : artifact_keys(loaded, request.artifact)) {
      sets.push_back(key + "=" + built.artifact.string());
    }
    return sets;
  }
  made.worker = find_worker(built.artifact).string();
  return {};
}

/// Throughput over other numbers of devices is no answer to which side is faster. @throws Error 201
void require_equal_ranks(const RunConfig& a, const RunConfig& b, const std::string& file,
                         const DifferenceOptions& options) {
  RunRecord of_a, of_b;
  of_a.environment = of_ranks({}, a.parallel.ranks);
  of_b.environment = of_ranks({}, b.parallel.ranks);
  if (are_comparable(environment_differences(of_a, of_b, options))) return;
  throw Error(
      ExitCode::not_comparable,
      fmt::format("{}: parallel.ranks is {} on side a and {} on side b, and jobs of different numbers "
                  "of ranks are not compared: give both the same (--set parallel.ranks={}), or see what "
                  "more ranks bring with flopmark run --scaling; --allow environment.device_count "
                  "compares them all the same",
                  file, a.parallel.ranks, b.parallel.ranks, b.parallel.ranks));
}

/// The config with what is set for this side alone; a mistake in that is told by the side's own option.
RunConfig load_side_config(const std::string& config, const AbOptions& options, const AbSideOptions& side,
                           const char* name, const std::vector<std::string>& more) {
  try {
    return load_config(config, joined(joined(options.sets, side.sets), more));
  } catch (const Error& error) {
    const std::string text = error.what();
    const bool of_side = std::any_of(side.sets.begin(), side.sets.end(), [&](const std::string& set) {
      return text.starts_with(fmt::format("--set \"{}\"", set));
    });
    if (!of_side) throw;
    throw Error(error.code(), fmt::format("--{}.{}", name, text.substr(2)));
  }
}

PairedSide resolve_side(const std::string& config, const AbOptions& options, const SideChoice& choice,
                        const AbBuilds& builds) {
  const AbSideOptions& side = choice.side;
  PairedSide made;
  made.sets = side.sets;
  made.environment = variables_of(side.environment, fmt::format("--{}.env", choice.name));
  std::vector<std::string> of_build;
  const bool is_built = !side.reference.empty() || (side.worker.empty() && !choice.other.reference.empty());
  if (is_built) {
    of_build = build_side(made, config, options, choice, builds);
  } else {
    made.worker = find_worker(side.worker).string();
    made.label = display_path(made.worker);
  }
  RecordInputs& inputs = made.inputs;
  inputs.config = load_side_config(config, options, side, choice.name, of_build);
  inputs.peaks = load_peak_sources(options.peaks);
  inputs.host = host_environment();
  inputs.store_root = find_store({}, inputs.config.file).root;
  return made;
}

}  // namespace

void refuse_second_pass(const RunConfig& config, const std::string& file, const std::string& command) {
  if (config.measure.loader == "normal") return;
  throw usage_error(
      fmt::format("{}: measure.loader is {}, but {} measures no second pass; set it to normal "
                  "(--set measure.loader=normal)",
                  file, config.measure.loader, command));
}

fs::path default_artifact(const RunConfig& config, const fs::path& top) {
  for (const fs::path file : {config.model.file(), config.data.plugin}) {
    if (file.empty()) continue;
    std::error_code ignored;
    fs::path inside =
        fs::weakly_canonical(file, ignored).lexically_relative(fs::weakly_canonical(top, ignored));
    if (!inside.empty() && *inside.begin() != "..") return inside;
  }
  return kBuiltWorker;
}

bool is_model_file(const fs::path& artifact) {
  const std::string ending = model_ending(artifact);
  return ending == ".pt" || ending == ".pt2" || is_library(artifact);
}

std::vector<std::string> artifact_keys(const RunConfig& config, const fs::path& artifact) {
  const std::string& type = config.model.type;
  if (!is_library(artifact)) {
    if (type == "torchscript" || type == "exported") return {"model." + type};
    throw usage_error(
        fmt::format("{}: is a model file, but {} names none in its place; name it in "
                    "model.torchscript or model.exported",
                    artifact.string(), config.name));
  }
  const bool is_of_data = config.data.type == "plugin", is_of_model = config.model.type == "plugin";
  const bool is_one = config.data.plugin == config.model.plugin;
  const bool names_data = fs::path(config.data.plugin).filename() == artifact.filename();
  if (!is_of_data && !is_of_model) {
    throw usage_error(fmt::format("{}: is a library, but {} names no plug-in in model.plugin or data.plugin",
                                  artifact.string(), config.name));
  }
  if (is_of_data && is_of_model && is_one) return {"model.plugin", "data.plugin"};
  if (is_of_data && (!is_of_model || names_data)) return {"data.plugin"};
  return {"model.plugin"};
}

fs::path compared_tree(const std::string& config) {
  const auto here = tree_top(fs::current_path());
  const auto there = here ? here : tree_top(fs::absolute(config).parent_path());
  return there.value_or(fs::path());
}

AbSides resolve_sides(const std::string& config, const AbOptions& options, const AbBuilds& builds) {
  // A mistake is told before anything is built.
  const RunConfig a = load_side_config(config, options, options.a, "a", {});
  const RunConfig b = load_side_config(config, options, options.b, "b", {});
  for (const RunConfig* side : {&a, &b}) refuse_second_pass(*side, config, "flopmark ab");
  require_equal_ranks(a, b, config, options.differences);
  return {resolve_side(config, options, {options.a, options.b, "a"}, builds),
          resolve_side(config, options, {options.b, options.a, "b"}, builds)};
}

}  // namespace flopmark
