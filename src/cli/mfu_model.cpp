#include <fmt/format.h>

#include <algorithm>

#include "cli/mfu_subject.h"
#include "config/key_table.h"
#include "config/key_value.h"
#include "config/presets.h"
#include "flopmark/error.h"
#include "flops/closed_form.h"

namespace flopmark {
namespace {

std::string language_presets() {
  std::string names;
  for (const ModelShape& preset : model_presets()) {
    if (is_decoder(preset)) names += (names.empty() ? "" : ", ") + preset.preset;
  }
  return names;
}

ModelShape shape_of_preset(const MfuOptions& options) {
  const ModelShape* preset = find_preset(options.preset);
  if (preset == nullptr) {
    throw usage_error(fmt::format("--preset {}: there is no such preset; known: {}",
                                  quoted_text(options.preset), language_presets()));
  }
  if (!options.type.empty() && options.type != preset->type) {
    throw usage_error(fmt::format("--type {}: preset {} is of type {}; leave one of them out", options.type,
                                  options.preset, preset->type));
  }
  if (!is_decoder(*preset)) {
    throw usage_error(
        fmt::format("--preset {}: its type {} is no decoder, and the conventions are of those; "
                    "use one of {}",
                    options.preset, preset->type, language_presets()));
  }
  return *preset;
}

/// The flags without which there is no shape; those of the other type are never needed.
void check_complete(const MfuOptions& options) {
  std::string missing;
  for (const SizeFlag& size : options.sizes) {
    const std::string flag = size.flag;
    const bool needed = flag != "--kv-heads" && flag != "--max-sequence-length";
    if (needed && !size.value) missing += (missing.empty() ? "" : ", ") + flag;
  }
  if (missing.empty()) return;
  throw usage_error(fmt::format(
      "the model's shape is not complete: missing {}; or start from --preset, one of {}, or a CONFIG",
      missing, language_presets()));
}

int64_t checked_size(const SizeFlag& size, int64_t value) {
  const KeyRow& row = *find_key(size.key);
  if (value >= row.integers.min && value <= row.integers.max) return value;
  throw usage_error(fmt::format("{} {}: expected {}", size.flag, value, expected_text(row)));
}

void check_scope(const SizeFlag& size, const std::string& type) {
  const KeyRow& row = *find_key(size.key);
  const auto& types = row.scope.models;
  if (types.empty() || std::find(types.begin(), types.end(), type) != types.end()) return;
  throw usage_error(fmt::format("{} does not apply to type {}, only to {}; leave it out", size.flag, type,
                                fmt::join(types, ", ")));
}

void check_heads_of_flags(const ModelShape& shape, const MfuOptions& options) {
  if (!options.head_size && shape.hidden_size % shape.heads != 0) {
    throw usage_error(fmt::format("--heads {} does not divide --hidden-size {}; give --head-size as well",
                                  shape.heads, shape.hidden_size));
  }
  if (shape.kv_heads > 0 && shape.heads % shape.kv_heads != 0) {
    throw usage_error(fmt::format("--kv-heads {} does not divide --heads {}", shape.kv_heads, shape.heads));
  }
}

void check_positions(const ModelShape& shape, int64_t sequence_length) {
  if (shape.type != "gpt2" || sequence_length <= shape.max_sequence_length) return;
  throw usage_error(
      fmt::format("--sequence-length {} is more than the model's {} positions; raise "
                  "--max-sequence-length, too",
                  sequence_length, shape.max_sequence_length));
}

/// Sizes that follow from others where neither a preset nor a flag says them.
void fill_in(ModelShape& shape, int64_t sequence_length) {
  if (shape.type == "llama" && shape.kv_heads == 0) shape.kv_heads = shape.heads;
  if (shape.type == "gpt2" && shape.max_sequence_length == 0) shape.max_sequence_length = sequence_length;
}

}  // namespace

DescribedModel model_of_flags(const MfuOptions& options) {
  DescribedModel model;
  if (!options.preset.empty()) {
    model.shape = shape_of_preset(options);
  } else {
    check_complete(options);
    model.shape.type = options.type.empty() ? "llama" : options.type;
  }
  for (const SizeFlag& size : options.sizes) {
    if (!size.value) continue;
    check_scope(size, model.shape.type);
    model.shape.*size.field = checked_size(size, *size.value);
  }
  if (options.tied_embeddings) model.shape.tied_embeddings = true;
  if (options.untied_embeddings) model.shape.tied_embeddings = false;
  if (!options.sequence_length) {
    throw usage_error("--sequence-length is missing: what attention costs grows with it");
  }
  model.sequence_length = positive_count("--sequence-length", *options.sequence_length);
  fill_in(model.shape, model.sequence_length);
  if (model.shape.type != "mlp") check_heads_of_flags(model.shape, options);
  check_positions(model.shape, model.sequence_length);
  return model;
}

}  // namespace flopmark
