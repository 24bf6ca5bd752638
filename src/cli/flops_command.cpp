#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/commands.h"
#include "cli/machine_turn.h"
#include "cli/scratch_folder.h"
#include "cli/terminal.h"
#include "config/input_list.h"
#include "config/run_config.h"
#include "flops/closed_form.h"
#include "launch/launch.h"
#include "report/flops_report.h"

namespace flopmark {
namespace {

struct FlopsOptions {
  std::string config;
  std::vector<std::string> sets;
  std::string attention;  ///< fused, unfused; empty = as the config says
  std::string format = "table";
  std::filesystem::path worker;
  std::optional<size_t> depth;
};

/// The worker's count. @throws Error 125 if it failed, 130 if somebody interrupted.
LaunchSamples count_step(const RunConfig& config, const std::filesystem::path& worker) {
  const auto turn = MachineTurn::wait();  // a model from a file is counted by running it
  if (!turn) throw Error(ExitCode::interrupted, config.name + ": interrupted before the count began");
  constexpr int64_t kCountBytes = 4 << 20;  // a row per module of a large model
  const ScratchFolder scratch(kCountBytes);
  LaunchRequest request;
  request.worker = worker;
  request.config = to_json(config);
  request.count_only = true;
  request.scratch = scratch.path();
  request.timeout = std::chrono::duration<double>(config.measure.timeout_s);
  LaunchOutcome outcome = run_launch(request, *make_progress_line(/*quiet=*/true));
  if (outcome.status == LaunchOutcome::Status::interrupted) {
    throw Error(ExitCode::interrupted, config.name + ": interrupted before the count was done");
  }
  if (outcome.failure) throw judge_error(config.name + ": " + outcome.failure->text);
  if (!outcome.samples || !outcome.samples->flops) {
    throw Error(ExitCode::internal, "the worker ended without a count; please report this");
  }
  return std::move(*outcome.samples);
}

bool reads_tokens(const ModelShape& model) {
  return model.vocab_size > 0;
}

std::string step_text(const RunConfig& config) {
  const int64_t count = config.train.gradient_accumulation;
  std::string text =
      fmt::format("{} micro-batch{} of {}", count, count == 1 ? "" : "es", config.data.batch_size);
  text += reads_tokens(config.model) ? fmt::format(" x {} tokens", config.data.sequence_length)
                                     : (config.data.batch_size == 1 ? " sample" : " samples");
  const int64_t interval = config.train.activation_checkpointing.blocks;
  if (interval == 1) text += ", every block checkpointed";
  if (interval > 1) text += fmt::format(", every {}th block checkpointed", interval);
  return text;
}

FlopsSubject subject_of(RunConfig config, LaunchSamples samples) {
  take_model_data(config, samples.model_data);
  FlopsSubject subject;
  subject.name = config.name;
  const std::string& file = config.model.file();
  const std::string what =
      file.empty() ? config.model.preset : std::filesystem::path(file).filename().string();
  const std::string& type = config.model.plugin.empty() ? config.model.type : config.model.plugin_type;
  subject.model = type + (what.empty() ? "" : " (" + what + ")");
  subject.step = step_text(config);
  subject.flops = std::move(*samples.flops);
  subject.parameters = samples.parameters;
  subject.attention_kernel = samples.attention_kernel;
  subject.counted_on = file.empty() ? "meta" : samples.environment.device_name.value_or("the device");
  if (config.model.experts > 0) subject.active_parameters = count_active_parameters(config.model);
  if (is_decoder(config.model)) {
    const int64_t tokens =
        config.data.batch_size * config.data.sequence_length * config.train.gradient_accumulation;
    subject.formulas = {transformer_shape(config.model, {.sequence_length = config.data.sequence_length}),
                        tokens};
  }
  return subject;
}

ExitCode run_flops(const FlopsOptions& options) {
  RunConfig config = load_config(options.config, options.sets);
  if (!options.attention.empty()) config.train.attention_kernel = options.attention;
  const FlopsSubject subject = subject_of(config, count_step(config, find_worker(options.worker)));
  if (options.format == "json") {
    write_output(flops_json(subject, options.depth).dump(2) + "\n");
  } else {
    const TableStyle style = options.format == "markdown" ? TableStyle::markdown : TableStyle::text;
    write_output(flops_tables(subject, style, options.depth.value_or(1)));
  }
  return ExitCode::ok;
}

}  // namespace

void setup_flops(CLI::App& app, Invocation& invocation) {
  const auto options = std::make_shared<FlopsOptions>();
  CLI::App* command = app.add_subcommand("flops", "Count the FLOPs of a step without measuring it");
  command->add_option("CONFIG", options->config, "A config file, or a model (.pt, .pt2)")
      ->type_name("FILE")
      ->required();
  command->add_option("--set", options->sets, "Change a key of the config; may be repeated")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  command->add_option("--attention", options->attention, "Attention kernel the hardware count assumes")
      ->check(CLI::IsMember({"fused", "unfused"}));
  command->add_option("--depth", options->depth, "Parts of a module's path (table: 1; json: all)")
      ->check(CLI::Range(1, 64));
  command->add_option("--format", options->format, "Form of the count")
      ->check(CLI::IsMember({"table", "json", "markdown"}));
  command->add_option("--worker", options->worker, "The flopmark-worker to start")->type_name("FILE");
  command->footer(
      "Examples:\n"
      "  flopmark flops configs/quickstart.json\n"
      "  flopmark flops configs/llama-tiny-cpu.json --set train.activation_checkpointing=full --depth 4");
  command->callback(
      [options, &invocation] { invocation.action = [options] { return run_flops(*options); }; });
}

}  // namespace flopmark
