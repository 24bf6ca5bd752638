#include "config/key_scope.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>

namespace flopmark {
namespace {

/// One of the three kinds of type that a key may be bound to.
struct ScopePart {
  const char* key;
  const std::vector<std::string>& allowed;
  const std::string& type;
};

std::vector<ScopePart> scope_parts(const KeyRow& row, const RunConfig& config) {
  return {{"model.type", row.scope.models, config.model.type},
          {"data.type", row.scope.data, config.data.type},
          {"train.optimizer.type", row.scope.optimizers, config.train.optimizer.type}};
}

/// What a file makes has no type of ours: it is named by the key that gives the file.
struct FromFile {
  std::string_view key, type;
  const char* one;
  const char* many;
};
constexpr FromFile kFromFile[] = {
    {"model.type", "torchscript", "a TorchScript model", "TorchScript models (model.torchscript)"},
    {"model.type", "exported", "an exported model", "exported models (model.exported)"},
    {"model.type", "plugin", "a plug-in's model", "plug-ins (model.plugin)"},
    {"data.type", "plugin", "a plug-in's data set", "plug-ins (data.plugin)"},
};

const FromFile* from_file(std::string_view key, std::string_view type) {
  const auto* found = std::find_if(std::begin(kFromFile), std::end(kFromFile), [&](const FromFile& entry) {
    return entry.key == key && entry.type == type;
  });
  return found == std::end(kFromFile) ? nullptr : found;
}

bool fits_file_model(const KeyRow& row, const RunConfig& config) {
  const auto& types = row.scope.file_model_data;
  return std::find(types.begin(), types.end(), config.data.type) != types.end();
}

/// What is allowed, such as: model.type llama, gpt2 and plug-ins (model.plugin). The key may go without
/// saying.
std::string allowed_text(const ScopePart& part, bool with_key) {
  std::string types, files;
  for (const std::string& type : part.allowed) {
    const FromFile* file = from_file(part.key, type);
    std::string& text = file == nullptr ? types : files;
    text += (text.empty() ? "" : file == nullptr ? ", " : " and ") + (file == nullptr ? type : file->many);
  }
  if (with_key && !types.empty()) types.insert(0, std::string(part.key) + " ");
  return types + (types.empty() || files.empty() ? "" : " and ") + files;
}

}  // namespace

std::string scope_text(const KeyRow& row) {
  std::string text;
  const RunConfig any;
  for (const ScopePart& part : scope_parts(row, any)) {
    if (part.allowed.empty()) continue;
    text += (text.empty() ? "only for " : ", ") + allowed_text(part, /*with_key=*/true);
  }
  if (const auto& types = row.scope.file_model_data; !types.empty()) {
    text += fmt::format(", or with data.type {}", fmt::join(types, ", "));
  }
  return text;
}

bool applies_to(const KeyRow& row, const RunConfig& config) {
  return scope_conflict(row, config).empty();
}

std::string scope_conflict(const KeyRow& row, const RunConfig& config) {
  for (const ScopePart& part : scope_parts(row, config)) {
    const auto& allowed = part.allowed;
    if (allowed.empty() || std::find(allowed.begin(), allowed.end(), part.type) != allowed.end()) continue;
    const FromFile* file = from_file(part.key, part.type);
    if (file != nullptr && fits_file_model(row, config)) continue;
    if (file != nullptr) {
      return fmt::format("does not apply to {}, only to {}", file->one, allowed_text(part, true));
    }
    return fmt::format("does not apply to {} \"{}\", only to {}", part.key, part.type,
                       allowed_text(part, false));
  }
  return "";
}

}  // namespace flopmark
