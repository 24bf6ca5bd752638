#include "cli/mfu_subject.h"

#include <fmt/format.h>

#include <cctype>
#include <cmath>
#include <stdexcept>

#include "config/presets.h"
#include "flopmark/error.h"
#include "flops/closed_form.h"
#include "hardware/peak.h"
#include "hardware/peak_table.h"
#include "report/units.h"

namespace flopmark {
namespace {

constexpr size_t kMostDeviceNames = 6;

std::string lower_case(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

/// Exact names that contain what was typed, for the reason only: no other device's peak is ever used.
std::string similar_devices(const std::string& device) {
  std::string names;
  size_t count = 0;
  for (const PeakRow& row : peak_table()) {
    for (const std::string& name : row.match) {
      if (lower_case(name).find(lower_case(device)) == std::string::npos || count == kMostDeviceNames)
        continue;
      names += fmt::format("{}\"{}\"", count++ == 0 ? "; names are exact, such as " : ", ", name);
    }
  }
  return names;
}

Peak unknown_peak(const std::string& precision, const std::string& reason) {
  Peak peak;
  peak.precision = precision;
  peak.source = "none";
  peak.reason = reason;
  return peak;
}

Peak peak_by_name(const std::string& device, const std::string& precision) {
  if (precision.empty()) {
    throw usage_error("--device needs --precision: each number type of the matmuls has its own peak");
  }
  Peak peak = lookup_peak(device, precision);
  if (peak.reason) {
    *peak.reason += ", here with --peak FLOP_PER_S";
    if (find_peak_row(device) == nullptr) *peak.reason += similar_devices(device);
  }
  return peak;
}

/// What was given of the throughput, as tokens per second and device.
struct GivenThroughput {
  double tokens_per_s_per_device = 0;
  std::string text;
};

void check_one_throughput(const MfuOptions& options) {
  std::string given;
  int count = 0;
  const auto add = [&](const char* flag, bool is_given) {
    if (!is_given) return;
    given += fmt::format("{}{}", count++ == 0 ? "" : ", ", flag);
  };
  add("--tokens-per-s-per-device", options.tokens_per_s_per_device.has_value());
  add("--tokens-per-s", options.tokens_per_s.has_value());
  add("--samples-per-s", options.samples_per_s.has_value());
  add("--step-s", options.step_s.has_value());
  if (count == 1) return;
  throw usage_error(
      fmt::format("give the throughput with exactly one of --tokens-per-s-per-device, --tokens-per-s, "
                  "--samples-per-s and --step-s; found {}",
                  count == 0 ? "none" : given));
}

/// Samples of a step: given, else what the config makes of batch and accumulation on every device.
int64_t samples_per_step(const MfuOptions& options, const RunConfig* config) {
  if (options.global_batch) return positive_count("--global-batch", *options.global_batch);
  if (config == nullptr) {
    throw usage_error("--step-s needs --global-batch: the samples of one step on all devices together");
  }
  const double samples = static_cast<double>(config->data.batch_size) *
                         static_cast<double>(config->train.gradient_accumulation) *
                         static_cast<double>(options.devices);
  if (samples > 9e15) throw usage_error("the samples of a step are too many to count; check the config");
  return static_cast<int64_t>(samples);
}

GivenThroughput throughput_of(const MfuOptions& options, const RunConfig* config, int64_t sequence_length) {
  check_one_throughput(options);
  if (options.global_batch && !options.step_s) {
    throw usage_error("--global-batch goes with --step-s only; leave it out");
  }
  const auto length = static_cast<double>(sequence_length);
  const auto devices = static_cast<double>(options.devices);
  if (options.tokens_per_s_per_device) {
    const double rate = positive_number("--tokens-per-s-per-device", *options.tokens_per_s_per_device);
    return {rate, fmt::format("{:.10g} tokens/s per device", rate)};
  }
  if (options.tokens_per_s) {
    const double rate = positive_number("--tokens-per-s", *options.tokens_per_s);
    return {rate / devices, fmt::format("{:.10g} tokens/s in all", rate)};
  }
  if (options.samples_per_s) {
    const double rate = positive_number("--samples-per-s", *options.samples_per_s);
    return {rate * length / devices, fmt::format("{:.10g} samples/s in all", rate)};
  }
  const double seconds = positive_number("--step-s", *options.step_s);
  const int64_t samples = samples_per_step(options, config);
  return {static_cast<double>(samples) * length / seconds / devices,
          fmt::format("{:.10g} s per step of {} samples", seconds, samples)};
}

int64_t parameters_of(const MfuOptions& options) {
  if (!options.parameters) return 0;
  const double count = positive_number("--parameters", *options.parameters);
  constexpr double kExact = 9007199254740992.0;  // 2^53
  if (count >= 1 && count <= kExact && std::trunc(count) == count) return static_cast<int64_t>(count);
  throw usage_error(
      fmt::format("--parameters {}: expected a whole number from 1 to {:.0f}", *options.parameters, kExact));
}

/// The type, the preset it started from, and whether it is still that.
std::string model_name(const ModelShape& shape) {
  const ModelShape* preset = find_preset(shape.preset);
  if (preset == nullptr) return shape.type;
  const bool same = preset->heads == shape.heads && count_parameters(*preset) == count_parameters(shape) &&
                    preset->experts_per_token == shape.experts_per_token;
  const std::string experts =
      shape.experts > 0
          ? fmt::format(", {} parameters; N and Nmm are those of {} in {} experts",
                        format_count(count_parameters(shape)), shape.experts_per_token, shape.experts)
          : "";
  return fmt::format("{} ({}{}){}", shape.type, shape.preset, same ? "" : ", changed", experts);
}

const char* rule_of(const std::string& checkpointing) {
  if (checkpointing == "full") return "blocks_exact";
  return checkpointing == "selective" ? "attention_rerun" : "none";
}

MfuSubject subject_of(const MfuOptions& options, const RunConfig* config) {
  const DescribedModel model = config == nullptr
                                   ? model_of_flags(options)
                                   : DescribedModel{config->model, config->data.sequence_length};
  if (!is_decoder(model.shape)) {
    throw usage_error(
        "the conventions are of decoders with attention, and this is none; count its FLOPs (flopmark run "
        "CONFIG --dry-run) and give --model-flop-per-s");
  }
  const GivenThroughput throughput = throughput_of(options, config, model.sequence_length);
  MfuSubject subject;
  subject.shape = transformer_shape(model.shape, {.sequence_length = model.sequence_length,
                                                  .head_size = options.head_size.value_or(0),
                                                  .parameters = parameters_of(options)});
  subject.model = model_name(model.shape);
  subject.peak = peak_of(options, config);
  subject.devices = options.devices;
  subject.tokens_per_s_per_device = throughput.tokens_per_s_per_device;
  subject.given = throughput.text;
  subject.checkpointing = options.checkpointing;
  subject.hardware_rule = find_hardware_rule(rule_of(options.checkpointing));
  return subject;
}

void refuse_shape_flags(const MfuOptions& options) {
  std::string given;
  for (const SizeFlag& size : options.sizes) {
    if (size.value) given = size.flag;
  }
  if (!options.preset.empty()) given = "--preset";
  if (!options.type.empty()) given = "--type";
  if (options.head_size) given = "--head-size";
  if (options.tied_embeddings) given = "--tied-embeddings";
  if (options.untied_embeddings) given = "--untied-embeddings";
  if (options.sequence_length) given = "--sequence-length";
  if (given.empty()) return;
  throw usage_error(given + " does not go with a CONFIG, which has its own shape; use --set KEY=VALUE");
}

}  // namespace

Peak peak_of(const MfuOptions& options, const RunConfig* config) {
  const std::string configured = config == nullptr ? "" : config->train.precision;
  const std::string precision = peak_precision(options.precision.empty() ? configured : options.precision);
  auto by_hand = options.peak_flop_per_s;
  if (by_hand) positive_number("--peak", *by_hand);
  if (!by_hand && config != nullptr) by_hand = config->peak_flop_per_s;
  if (by_hand) return resolve_peak(by_hand, options.device, precision);
  if (!options.device.empty()) return peak_by_name(options.device, precision);
  return unknown_peak(precision,
                      "neither a device nor a peak was given; --device NAME with --precision looks the peak "
                      "up, --peak FLOP_PER_S gives it by hand");
}

MfuSubject mfu_subject(const MfuOptions& options) {
  positive_count("--devices", options.devices);
  if (options.head_size) positive_count("--head-size", *options.head_size);
  if (options.config.empty()) {
    if (!options.sets.empty()) throw usage_error("--set changes a key of a CONFIG, and none was given");
    return subject_of(options, nullptr);
  }
  refuse_shape_flags(options);
  const RunConfig config = load_config(options.config, options.sets);
  return subject_of(options, &config);
}

RateSubject rate_subject(const MfuOptions& options) {
  RateSubject subject;
  subject.devices = positive_count("--devices", options.devices);
  if (!options.model_flop_per_s) {
    throw usage_error("--hardware-flop-per-s needs --model-flop-per-s: what was executed is at least that");
  }
  subject.rates.model_flop_per_s = positive_number("--model-flop-per-s", *options.model_flop_per_s);
  if (options.hardware_flop_per_s) {
    subject.rates.hardware_flop_per_s =
        positive_number("--hardware-flop-per-s", *options.hardware_flop_per_s);
    if (*options.hardware_flop_per_s < *options.model_flop_per_s) {
      throw usage_error(
          fmt::format("--hardware-flop-per-s {:g} is less than --model-flop-per-s {:g}: what was "
                      "executed includes what the model needs; were they swapped?",
                      *options.hardware_flop_per_s, *options.model_flop_per_s));
    }
  }
  subject.peak = peak_of(options, nullptr);
  return subject;
}

}  // namespace flopmark
