#include "config/model_ending.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>

#include "config/key_value.h"
#include "flopmark/error.h"

namespace flopmark {
namespace {

namespace fs = std::filesystem;

/// Names of records stand at the end of a zip archive; those that tell, near its very end.
constexpr std::streamoff kEndBytes = 262144;

struct ModelKind {
  const char* key;     ///< that names such a file; empty: none does
  const char* ending;  ///< that such a file goes by
  const char* what;
};
constexpr ModelKind kTorchScript{"model.torchscript", ".pt", "TorchScript"};
constexpr ModelKind kExported{"model.exported", ".pt2", "an archive of torch.export"};
constexpr ModelKind kSaved{"", "", "an archive of torch.save, such as a state dict"};

std::string end_of_file(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary | std::ios::ate);
  const std::streamoff size = stream ? std::streamoff(stream.tellg()) : 0;
  if (size <= 0) return "";
  std::string bytes(static_cast<size_t>(std::min(size, kEndBytes)), '\0');
  stream.seekg(-static_cast<std::streamoff>(bytes.size()), std::ios::end);
  stream.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<size_t>(stream.gcount()));
  return bytes;
}

/// Null: not known. An exported model's sample inputs are an archive of torch.save inside it.
const ModelKind* kind_of(const fs::path& file) {
  std::error_code error;
  if (!fs::is_regular_file(file, error)) return nullptr;
  const std::string end = end_of_file(file);
  const auto names = [&](const char* record) { return end.find(record) != std::string::npos; };
  if (!names("PK\x05\x06")) return nullptr;
  if (names("/constants.pkl")) return &kTorchScript;
  if (names("/models/model.json") || names("serialized_exported_program.json")) return &kExported;
  return names("/data.pkl") ? &kSaved : nullptr;
}

[[noreturn]] void refuse_kind(const std::string& place, const ModelKind& held, bool no_config) {
  if (&held == &kSaved) {
    throw judge_error(fmt::format(
        "{}: is {}, which holds no model that runs; save the model with torch.jit.save (.pt, {}) or "
        "torch.export.save (.pt2, {})",
        place, held.what, kTorchScript.key, kExported.key));
  }
  throw judge_error(
      no_config ? fmt::format("{}: is {}, whose files end in {}; rename it so", place, held.what, held.ending)
                : fmt::format("{}: is {}; name it with {}", place, held.what, held.key));
}

}  // namespace

std::string model_ending(const fs::path& file) {
  std::string ending = file.extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return ending;
}

void check_model_kind(const ConfigLayer& layer, const fs::path& file) {
  for (const ModelKind* named : {&kTorchScript, &kExported}) {
    const auto given = layer.find(named->key);
    if (given == layer.end()) continue;
    const auto name = given->second.value.get<std::string>();
    const ModelKind* held = kind_of(given->second.folder / name);
    if (held == nullptr || held == named) continue;
    const bool no_config = given->second.origin == file.string();
    refuse_kind(no_config ? file.string()
                          : fmt::format("{}: {} {}", given->second.origin, named->key, quoted_text(name)),
                *held, no_config);
  }
}

void check_no_model(const fs::path& file) {
  if (const ModelKind* held = kind_of(file)) refuse_kind(file.string(), *held, true);
}

}  // namespace flopmark
