#include "cli/mfu_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "cli/option_checks.h"

#include "flopmark/error.h"

namespace flopmark {
namespace {

constexpr int64_t kLargestCount = 2147483647;

std::vector<SizeFlag> size_flags() {
  return {
      {"--layers", "model.layers", &ModelShape::layers, "Number of blocks"},
      {"--hidden-size", "model.hidden_size", &ModelShape::hidden_size, "Width of the residual stream"},
      {"--heads", "model.heads", &ModelShape::heads, "Query heads"},
      {"--kv-heads", "model.kv_heads", &ModelShape::kv_heads,
       "Key and value heads, llama only; without a preset as many as heads"},
      {"--ffn-size", "model.ffn_size", &ModelShape::ffn_size,
       "Inner width of the feed-forward part (llama: 3 matrices, gpt2: 2)"},
      {"--vocab-size", "model.vocab_size", &ModelShape::vocab_size, "Number of token ids"},
      {"--max-sequence-length", "model.max_sequence_length", &ModelShape::max_sequence_length,
       "Learned positions, gpt2 only; without a preset the sequence length"},
  };
}

void add_model_options(CLI::App& command, MfuOptions& options) {
  command.add_option("CONFIG", options.config, "A config file: shape, batch, precision and peak are its own")
      ->type_name("FILE");
  command.add_option("--set", options.sets, "Change a key of the config; may be repeated")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false)
      ->group(kModelFlags);
  command.add_option("--preset", options.preset, "A shape of flopmark list; the flags below change it")
      ->type_name("NAME")
      ->group(kModelFlags);
  command.add_option("--type", options.type, "Kind of model; default llama")
      ->check(CLI::IsMember({"llama", "gpt2"}))
      ->group(kModelFlags);
  options.sizes = size_flags();
  for (SizeFlag& size : options.sizes) {
    command.add_option(size.flag, size.value, size.help)->type_name("N")->group(kModelFlags);
  }
  command.add_option("--head-size", options.head_size, "Width of a head; default hidden size / heads")
      ->type_name("N")
      ->group(kModelFlags);
  CLI::Option* tied = command.add_flag("--tied-embeddings", options.tied_embeddings,
                                       "The output layer shares the input embedding");
  tied->group(kModelFlags);
  command.add_flag("--untied-embeddings", options.untied_embeddings, "It does not")
      ->excludes(tied)
      ->group(kModelFlags);
  command.add_option("--sequence-length", options.sequence_length, "Tokens per sample")
      ->type_name("N")
      ->group(kModelFlags);
  command.add_option("--parameters", options.parameters, "N, where it is not the one of the shape")
      ->type_name("N")
      ->group(kModelFlags);
  command
      .add_option("--checkpointing", options.checkpointing,
                  "What is re-run: nothing (default), every block, or attention")
      ->check(CLI::IsMember({"none", "full", "selective"}))
      ->group(kModelFlags);
}

void add_hardware_options(CLI::App& command, MfuOptions& options) {
  command.add_option("--device", options.device, "Exact name, as the driver reports it: looks the peak up")
      ->type_name("NAME")
      ->group(kHardwareFlags)
      ->check(not_empty());
  command.add_option("--precision", options.precision, "Number type of the matmuls")
      ->check(CLI::IsMember({"fp32", "tf32", "bf16-mixed", "bf16", "fp16-mixed", "fp16", "fp8"}))
      ->group(kHardwareFlags);
  command.add_option("--peak", options.peak_flop_per_s, "Dense peak of one device, such as 312e12")
      ->type_name("FLOP_PER_S")
      ->group(kHardwareFlags);
  command.add_option("--devices", options.devices, "Number of devices; default 1")
      ->type_name("N")
      ->group(kHardwareFlags);
}

void add_throughput_options(CLI::App& command, MfuOptions& options) {
  command.add_option("--tokens-per-s-per-device", options.tokens_per_s_per_device, "Of one device")
      ->type_name("RATE")
      ->group(kThroughputFlags);
  command.add_option("--tokens-per-s", options.tokens_per_s, "Of all devices")
      ->type_name("RATE")
      ->group(kThroughputFlags);
  command.add_option("--samples-per-s", options.samples_per_s, "Of all devices")
      ->type_name("RATE")
      ->group(kThroughputFlags);
  command.add_option("--step-s", options.step_s, "Seconds of one optimizer step; with --global-batch")
      ->type_name("SECONDS")
      ->group(kThroughputFlags);
  command
      .add_option("--global-batch", options.global_batch,
                  "Samples of one step, all devices and micro-batches; default a config's")
      ->type_name("N")
      ->group(kThroughputFlags);
}

}  // namespace

void add_mfu_options(CLI::App& command, MfuOptions& options) {
  add_model_options(command, options);
  add_hardware_options(command, options);
  add_throughput_options(command, options);
  command.add_option("--model-flop-per-s", options.model_flop_per_s, "What the mathematics needs")
      ->type_name("FLOP_PER_S")
      ->group(kRateFlags);
  command.add_option("--hardware-flop-per-s", options.hardware_flop_per_s, "What was executed")
      ->type_name("FLOP_PER_S")
      ->group(kRateFlags);
  command
      .add_option("--from", options.from, "Rows of published figures: an array, or an object with \"cases\"")
      ->type_name("FILE")
      ->group(kFileFlags)
      ->check(not_empty());
  command.add_option("--format", options.format, "Form of the output; default table")
      ->check(CLI::IsMember({"table", "json", "markdown"}));
}

void refuse_other_options(const CLI::App& command, const std::set<std::string>& headings,
                          const std::string& because) {
  for (const CLI::Option* option : command.get_options()) {
    const bool positional = option->get_positional();
    const bool known =
        !positional && (option->get_group() == "Options" || headings.count(option->get_group()) > 0);
    const bool config = positional && headings.count(kModelFlags) > 0;
    if (option->count() == 0 || known || config) continue;
    throw usage_error(
        fmt::format("{} does not go with {}; leave one of them out", option->get_name(positional), because));
  }
}

double positive_number(const char* flag, double value) {
  if (value >= kLeastInput && value <= kLargestInput) return value;
  throw usage_error(fmt::format("{} {}: expected a number > 0, from {:g} to {:g}", flag, value, kLeastInput,
                                kLargestInput));
}

int64_t positive_count(const char* flag, int64_t value) {
  if (value >= 1 && value <= kLargestCount) return value;
  throw usage_error(fmt::format("{} {}: expected a whole number from 1 to {}", flag, value, kLargestCount));
}

}  // namespace flopmark
