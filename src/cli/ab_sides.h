#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "cli/ab_options.h"
#include "compare/paired_comparison.h"

namespace flopmark {

/// How builds are watched.
struct AbBuilds {
  std::filesystem::path scratch;
  std::function<bool()> interrupted;
  std::function<void(const std::string&commit)> builds, waits;
};

/// Both sides of one config, with workers and models built where the options ask for it. What is measured
/// from a build is --artifact; if not given, the config's TorchScript model or plug-in where that lies in the
/// tree, else build/release/bin/flopmark-worker. The side without a commit or worker of its own is then the
/// checked-out tree, built the same way.
/// @throws Error 200 for a config, worker or commit that is not there, or a config with a second pass
/// (measure.loader); 201 for sides with different numbers of ranks, before anything is built; 125 for a build
/// that fails.
struct AbSides {
  PairedSide a, b;
};
AbSides resolve_sides(const std::string& config, const AbOptions& options, const AbBuilds& builds);

/// Launches that take turns run no second pass. @throws Error 200 naming `file` and `command` for a config
/// with one (measure.loader).
void refuse_second_pass(const RunConfig& config, const std::string& file, const std::string& command);

/// What of a build is measured where --artifact does not say, relative to `top`: the config's TorchScript
/// model or plug-in where that lies in the tree, else build/release/bin/flopmark-worker.
std::filesystem::path default_artifact(const RunConfig& config, const std::filesystem::path& top);

/// Whether an artifact is a model or a plug-in, which a worker loads, or else a worker itself.
bool is_model_file(const std::filesystem::path& artifact);

/// The keys of `config` whose file the artifact of a build takes the place of: model.torchscript, or those of
/// the plug-in; where model and data are of one library, both.
/// @throws Error 200 where the config has no such file.
std::vector<std::string> artifact_keys(const RunConfig& config, const std::filesystem::path& artifact);

/// The tree whose commits are compared: that of the current folder, else that of `config`. Empty outside Git.
std::filesystem::path compared_tree(const std::string& config);

}  // namespace flopmark
