#include "models/exported_archive.h"

#include <caffe2/serialize/file_adapter.h>
#include <caffe2/serialize/inline_container.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <stdexcept>
#include <utility>
#include <vector>

#include "config/key_value.h"
#include "flopmark/error.h"

namespace flopmark {
namespace {

using caffe2::serialize::FileAdapter;
using caffe2::serialize::PyTorchStreamReader;
using nlohmann::json;

constexpr int64_t kSchemaMajor = 8;  // torch/_export/serde/schema.py of torch 2.8 to 2.15
constexpr const char* kArchiveVersion = "0";
constexpr const char* kModels = "models/";
constexpr int kDeepestJson = 256;
constexpr const char* kJson = ".json";

/// The middle of `text` between two ends; empty if it does not have them.
std::string between(const std::string& text, const std::string& begin, const std::string& end) {
  const bool has_ends = text.size() > begin.size() + end.size() && text.rfind(begin, 0) == 0 &&
                        text.compare(text.size() - end.size(), end.size(), end) == 0;
  return has_ends ? text.substr(begin.size(), text.size() - begin.size() - end.size()) : "";
}

bool holds_any_below(const std::vector<std::string>& records, const std::string& folder) {
  return std::any_of(records.begin(), records.end(),
                     [&](const std::string& record) { return record.rfind(folder, 0) == 0; });
}

}  // namespace

ExportedArchive::ExportedArchive(const std::string& path)
    : file_{path, "model.exported", "torch.export", "torch.export.save"} {
  check_beginning(file_);
  try {
    bytes_left_ = std::filesystem::file_size(path);
    reader_ = std::make_unique<PyTorchStreamReader>(std::make_shared<FileAdapter>(path));
    check_kind();
    check_versions();
    choose_model();
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    file_.refuse(error);
  }
}

ExportedArchive::~ExportedArchive() = default;

/// What else a zip archive of PyTorch may be.
void ExportedArchive::check_kind() {
  if (reader_->hasRecord("constants.pkl")) {
    file_.refuse("is TorchScript, not an archive of torch.export; name it with model.torchscript");
  }
  if (reader_->hasRecord("serialized_exported_program.json")) {
    file_.refuse("has the layout of torch 2.7 and older; export and save it again with torch 2.8 or newer");
  }
  const std::vector<std::string> records = reader_->getAllRecords();
  if (holds_any_below(records, kModels)) return;
  if (holds_any_below(records, "data/aotinductor/")) {
    file_.refuse(
        "holds a compiled model (AOTInductor), which cannot be trained; save what torch.export.export gave");
  }
  file_.refuse(
      reader_->hasRecord("data.pkl")
          ? "is an archive of torch.save (a state dict or a pickled module), not of torch.export; "
            "save the model with torch.export.save"
          : "is no archive of torch.export: it has no models/; save the model with torch.export.save");
}

void ExportedArchive::check_versions() {
  if (reader_->hasRecord("archive_version")) {
    const std::string version = text("archive_version");
    if (version != kArchiveVersion) {
      file_.refuse(
          fmt::format("is a newer archive, version {} of the format, of which version {} is read here; "
                      "save it with an older torch",
                      quoted_text(version), kArchiveVersion));
    }
  }
  if (reader_->hasRecord("byteorder") && text("byteorder") != "little") {
    file_.refuse("was saved on a machine of another byte order; save it on this kind of machine");
  }
}

void ExportedArchive::choose_model() {
  std::vector<std::string> models;
  for (const std::string& record : reader_->getAllRecords()) {
    const std::string name = between(record, kModels, kJson);
    if (!name.empty()) models.push_back(name);
  }
  const bool has_usual = std::find(models.begin(), models.end(), "model") != models.end();
  if (models.size() != 1 && !has_usual) {
    file_.refuse(
        fmt::format("holds {} models, none of which is named \"model\"; save the one to be trained "
                    "with torch.export.save",
                    models.size()));
  }
  model_ = has_usual ? "model" : models.front();
}

std::string ExportedArchive::find(const std::string& pattern) const {
  const size_t place = pattern.find("{model}");
  std::string record = pattern;
  if (place != std::string::npos) record.replace(place, std::string("{model}").size(), model_);
  return reader_->hasRecord(record) ? record : "";
}

std::pair<c10::DataPtr, size_t> ExportedArchive::bytes(const std::string& record) {
  try {
    if (!reader_->hasRecord(record)) {
      file_.refuse(
          fmt::format("has no record {}; save it again with torch.export.save", quoted_text(record)));
    }
    const size_t size = reader_->getRecordSize(record);
    if (size > bytes_left_) {
      file_.refuse(
          fmt::format("unpacks to more than the file holds (record {}, {} bytes): refused; save it "
                      "again with torch.export.save, which does not compress",
                      quoted_text(record), size));
    }
    bytes_left_ -= size;
    auto [data, read] = reader_->getRecord(record);
    return {std::move(data), read};
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    file_.refuse(error);
  }
}

std::string ExportedArchive::text(const std::string& record) {
  const auto [data, size] = bytes(record);
  std::string text(static_cast<const char*>(data.get()), size);
  return text.substr(0, text.find_last_not_of(" \n") + 1);
}

json ExportedArchive::document(const std::string& pattern) {
  const std::string record = find(pattern);
  if (record.empty()) {
    file_.refuse(fmt::format("has no record {}; save it again with torch.export.save", quoted_text(pattern)));
  }
  const auto [data, size] = bytes(record);
  const auto* begin = static_cast<const char*>(data.get());
  try {
    // Copying and printing a document goes down a level for each of its own.
    return json::parse(begin, begin + size, [](int depth, json::parse_event_t, json&) {
      if (depth > kDeepestJson) throw std::runtime_error("it is nested too deeply");
      return true;
    });
  } catch (const std::exception& error) {
    file_.refuse(
        fmt::format("{} is broken: {}; save it again with torch.export.save", record, reason_line(error)));
  }
}

json ExportedArchive::graph() {
  json program = document(std::string(kModels) + "{model}" + kJson);
  const auto version = program.find("schema_version");
  const auto major = version == program.end() || !version->is_object()
                         ? std::nullopt
                         : whole_number(version->value("major", json()));
  if (!major) file_.refuse("does not say its schema_version; save it again with torch.export.save");
  if (*major != kSchemaMajor) {
    file_.refuse(
        fmt::format("has schema version {} of torch.export (saved by torch {}), of which version {} is read "
                    "here; save it with {} torch",
                    *major, program.value("torch_version", std::string("of unknown version")), kSchemaMajor,
                    *major > kSchemaMajor ? "an older" : "a newer"));
  }
  return program;
}

}  // namespace flopmark
