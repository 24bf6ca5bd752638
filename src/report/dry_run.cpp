#include "report/dry_run.h"

#include <fmt/format.h>

#include <stdexcept>

#include "flopmark/error.h"
#include "flops/closed_form.h"
#include "report/text_layout.h"
#include "report/units.h"

namespace flopmark {
namespace {

int64_t parameter_bytes(const std::string& precision) {
  return precision == "bf16" ? 2 : 4;
}

int64_t optimizer_values(const OptimizerConfig& optimizer) {
  if (optimizer.type == "adamw") return 2;
  return optimizer.momentum == 0.0 ? 0 : 1;
}

double number(const nlohmann::json& document, const char* group, const char* key) {
  return document.at(group).at(key).get<double>();
}

struct Formula {
  FlopTotals flops;
  int64_t parameters = 0;
};

/// @throws Error 200 for a model too large to count.
Formula by_formula(const RunConfig& config, const BatchShape& batch, bool fused) {
  const StepForm form{.micro_batches = config.train.gradient_accumulation,
                      .fused_attention = fused,
                      .checkpoint_interval = config.train.activation_checkpointing.blocks,
                      .causal_convention = config.measure.attention_convention == "causal"};
  try {
    return {closed_form_flops(config.model, batch, form), count_parameters(config.model)};
  } catch (const std::overflow_error& error) {
    throw usage_error(
        fmt::format("{}: this model and batch are too large to count: {}; check model and data sizes",
                    config.name, error.what()));
  }
}

/// A step of all ranks; totals over ranks are doubles.
nlohmann::json job_of(const RunConfig& config, const FlopTotals& flops, const StaticMemory& memory) {
  const int64_t ranks = config.parallel.ranks;
  const auto all = [ranks](int64_t of_one) {
    return static_cast<double>(of_one) * static_cast<double>(ranks);
  };
  return {{"ranks", ranks},
          {"samples", ranks * config.data.batch_size * config.train.gradient_accumulation},
          {"model_flop", all(flops.model_flop())},
          {"hardware_flop", all(flops.hardware_flop())},
          {"memory_bytes", all(memory.total_bytes())}};
}

/// Empty for one rank.
std::string job_line(const nlohmann::json& document) {
  if (!document.contains("job")) return "";
  const nlohmann::json& job = document.at("job");
  return hanging("job      ",
                 fmt::format("{} together: {} a step, {} (model), {} executed (hardware); {} without "
                             "activations",
                             format_counted(job.at("ranks").get<int64_t>(), "rank"),
                             format_counted(job.at("samples").get<int64_t>(), "sample"),
                             format_flop(number(document, "job", "model_flop")),
                             format_flop(number(document, "job", "hardware_flop")),
                             format_bytes(number(document, "job", "memory_bytes"))));
}

}  // namespace

StaticMemory static_memory(const RunConfig& config, int64_t parameters) {
  const int64_t value_bytes = parameter_bytes(config.train.precision);
  const int64_t bytes = parameters * value_bytes;
  const int64_t shares = config.parallel.sharding == "zero2" ? config.parallel.ranks : 1;
  const int64_t updated = (parameters + shares - 1) / shares;  // by one rank
  return {bytes, bytes, updated * value_bytes * optimizer_values(config.train.optimizer)};
}

nlohmann::json dry_run(const RunConfig& config) {
  if (!config.model.file().empty()) {
    return {{"config", whole_json(config)},
            {"parameters", nullptr},
            {"flops", nullptr},
            {"memory", nullptr},
            {"reason",
             fmt::format("unknown before loading: {} model's parameters and FLOPs are counted when it runs",
                         config.model.type == "exported"      ? "an exported"
                         : config.model.type == "torchscript" ? "a TorchScript"
                                                              : "a plug-in's")}};
  }
  const bool fused = config.train.attention_kernel != "unfused";
  const BatchShape batch{config.data.batch_size, config.data.sequence_length};
  const auto [flops, parameters] = by_formula(config, batch, fused);
  const StaticMemory memory = static_memory(config, parameters);
  nlohmann::json document = {{"config", whole_json(config)},
                             {"parameters", parameters},
                             {"flops",
                              {{"forward_flop", flops.forward_flop},
                               {"backward_flop", flops.backward_flop},
                               {"backward_hardware_flop", flops.backward_hardware_flop},
                               {"recompute_flop", flops.recompute_flop},
                               {"model_flop", flops.model_flop()},
                               {"hardware_flop", flops.hardware_flop()},
                               {"attention_convention", flops.attention_convention},
                               {"attention_kernel", fused ? "fused" : "unfused"}}},
                             {"memory",
                              {{"parameters_bytes", memory.parameters_bytes},
                               {"gradients_bytes", memory.gradients_bytes},
                               {"optimizer_state_bytes", memory.optimizer_state_bytes},
                               {"total_bytes", memory.total_bytes()},
                               {"covers", "without activations"}}}};
  if (config.parallel.ranks > 1) document["job"] = job_of(config, flops, memory);
  return document;
}

std::string dry_run_text(const nlohmann::json& document) {
  if (document.at("parameters").is_null())
    return hanging("model    ", document.at("reason").get<std::string>());
  const auto bytes = [&](const char* key) { return format_bytes(number(document, "memory", key)); };
  const auto flop = [&](const char* key) { return format_flop(number(document, "flops", key)); };
  const std::string kernel = document.at("flops").at("attention_kernel");
  const bool causal = document.at("flops").at("attention_convention") == "causal";
  const bool several = document.contains("job");
  const bool is_sharded = several && document.at("config").at("parallel").at("sharding") == "zero2";
  const std::string convention = causal ? "half where causal" : "in full";
  return hanging("model    ", format_counted(document.at("parameters").get<int64_t>(), "parameter") +
                                  (several ? ", the same on every rank" : "")) +
         hanging("FLOPs    ",
                 fmt::format("{} forward, {} forward and backward (model), {} executed (hardware, {} "
                             "attention); per step{}, 1 multiply-add = 2 FLOP, attention {}",
                             flop("forward_flop"), flop("model_flop"), flop("hardware_flop"), kernel,
                             several ? " of one rank" : "", convention)) +
         hanging("memory   ",
                 fmt::format("{}{} without activations: parameters {}, gradients {}, optimizer state {}{}",
                             bytes("total_bytes"), several ? " of one rank" : "", bytes("parameters_bytes"),
                             bytes("gradients_bytes"), bytes("optimizer_state_bytes"),
                             is_sharded ? " (its share)" : "")) +
         job_line(document);
}

}  // namespace flopmark
