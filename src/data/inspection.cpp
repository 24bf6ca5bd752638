#include "data/inspection.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <utility>

#include "config/key_value.h"
#include "data/cifar_files.h"
#include "data/file_facts.h"
#include "data/image_folder.h"
#include "data/npy_file.h"
#include "data/picture_end.h"
#include "data/picture_header.h"
#include "data/tensor_archive.h"
#include "data/token_file.h"
#include "flopmark/counted.h"
#include "flopmark/error.h"

namespace flopmark {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr int64_t kUsualSequence = 128;    // the default of data.sequence_length
constexpr int64_t kUsualVocabulary = 256;  // llama-tiny's
constexpr int64_t kUsualBatch = 8;
constexpr size_t kTextProbeBytes = 65536;
/// Ten records: that every label of as much of something else is one of ten is less likely than one in 10^7.
constexpr size_t kLeastCifarBytes = 10 * static_cast<size_t>(kCifarRecordBytes);

std::string full_path(const std::string& path) {
  return fs::absolute(path).lexically_normal().string();
}

/// Windows of T + 1 ids that share their border, as SequenceDataset cuts them.
void add_sequences(Inspection& found, int64_t count) {
  const int64_t length = std::min(kUsualSequence, count - 1);
  found.tokens = count;
  if (length < 1) {
    found.samples = 0;
    found.advice = "too short to train on: two ids are the least";
    return;
  }
  found.samples = (count - 1) / length;
  json data = {{"type", found.data_type}, {"path", full_path(found.path)}, {"sequence_length", length}};
  if (!found.format.empty()) data["format"] = found.format;
  json model = {{"preset", "llama-tiny"}};
  if (found.high_id.value_or(0) >= kUsualVocabulary) model["vocab_size"] = *found.high_id + 1;
  found.config = {{"model", model}, {"data", data}};
}

template <typename Id>
void add_range(std::span<const std::byte> bytes, Inspection& found) {
  const auto* ids = reinterpret_cast<const Id*>(bytes.data());  // mappings and headers keep the alignment
  const auto [low, high] = std::minmax_element(ids, ids + bytes.size() / sizeof(Id));
  found.low_id = *low;
  found.high_id = *high;
}

void inspect_tokens(const MappedFile& file, Inspection& found) {
  const TokenLayout layout = token_layout(file.bytes(), "auto", file.path());
  const bool has_header = layout.format == "llmc";
  found.kind =
      has_header ? "token file, 16-bit ids with llm.c's header" : "token file, 16-bit ids without a header";
  found.data_type = "tokens";
  found.format = layout.format;
  if (layout.count > 0)
    add_range<uint16_t>(file.bytes().subspan(static_cast<size_t>(layout.offset_bytes)), found);
  add_sequences(found, layout.count);
  if (!has_header && found.advice.empty()) {
    found.advice = "taken for ids because it is nothing else that is known: no header says so";
  }
}

void inspect_text(const MappedFile& file, Inspection& found) {
  found.kind = "text; every byte is a token";
  found.data_type = "text";
  add_range<uint8_t>(file.bytes(), found);
  add_sequences(found, std::ssize(file.bytes()));
}

void inspect_cifar(Inspection& found) {
  found.kind = "CIFAR-10, binary version";
  found.data_type = "cifar10";
  found.samples = 0;
  for (const std::string& path : cifar_files(found.path)) {
    const int64_t records = check_cifar_file(MappedFile(path));
    *found.samples += records;
    if (records == kCifarBatchRecords || !found.advice.empty()) continue;
    found.advice =
        fmt::format("{} holds {}, CIFAR-10's own files {} each", fs::path(path).filename().string(),
                    counted(records, "record"), kCifarBatchRecords);
  }
  found.label_count = kCifarClasses;
  found.config = {{"model", {{"preset", "resnet18"}, {"classes", kCifarClasses}}},
                  {"data",
                   {{"type", "cifar10"},
                    {"path", full_path(found.path)},
                    {"batch_size", std::min(kUsualBatch, *found.samples)}}}};
}

void inspect_images(Inspection& found) {
  const ImageFolder folder = list_image_folder(found.path);
  check_pictures(folder);
  found.kind =
      folder.classes.empty() ? "folder of pictures, one class" : "folder of pictures, a class per sub-folder";
  found.data_type = "images";
  found.samples = std::ssize(folder.pictures);
  found.classes = folder.classes;
  found.label_count = folder.label_count();
  if (folder.skipped > 0) found.advice = counted(folder.skipped, "other file") + " skipped";
  if (*found.samples > kMostLookedAt) {
    found.advice += fmt::format("{}only the first {} pictures were looked at",
                                found.advice.empty() ? "" : "; ", kMostLookedAt);
  }
  found.config = {
      {"model", {{"preset", "resnet18"}, {"classes", std::max<int64_t>(2, folder.label_count())}}},
      {"data",
       {{"type", "images"},
        {"path", full_path(found.path)},
        {"batch_size", std::min(kUsualBatch, *found.samples)}}}};
}

template <typename T>
void add_values(std::span<const std::byte> bytes, TensorFacts& facts) {
  const size_t count = bytes.size() / sizeof(T);
  for (size_t i = 0; i < count; ++i) {
    T value;  // the header need not keep the alignment
    std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
    const auto wide = static_cast<int64_t>(value);
    facts.low = std::min(facts.low.value_or(wide), wide);
    facts.high = std::max(facts.high.value_or(wide), wide);
  }
}

void inspect_npy(const MappedFile& file, Inspection& found) {
  const NpyLayout layout = npy_layout(file.bytes(), file.path());
  found.kind = layout.fortran_order ? ".npy array, Fortran order" : ".npy array";
  found.data_type = "tensors";
  TensorFacts facts{.name = "", .dtype = layout.dtype, .shape = layout.shape, .low = {}, .high = {}};
  const auto values = file.bytes().subspan(static_cast<size_t>(layout.offset_bytes));
  if (layout.dtype == "int64") add_values<int64_t>(values, facts);
  if (layout.dtype == "int32") add_values<int32_t>(values, facts);
  if (layout.dtype == "int16") add_values<int16_t>(values, facts);
  if (layout.dtype == "int8") add_values<int8_t>(values, facts);
  if (layout.dtype == "uint8") add_values<uint8_t>(values, facts);
  found.advice = "one argument of forward; data.paths lists several such files";
  add_tensors(found, {facts});
}

void inspect_archive(const MappedFile& file, Inspection& found) {
  const std::vector<ZipEntry> entries = zip_directory(file.bytes(), file.path());
  switch (archive_kind(entries)) {
    case ArchiveKind::torchscript:
      found.kind = "TorchScript model, no data";
      found.advice = "name it in model.torchscript, with data.inputs or data of its own beside it";
      return;
    case ArchiveKind::exported:
      found.kind = "model of torch.export, no data";
      found.advice = "flopmark run takes it in place of a config";
      return;
    case ArchiveKind::npz:
      found.kind = ".npz archive of arrays";
      found.advice = "not read as it is: save each array with numpy.save and list the files in data.paths";
      return;
    case ArchiveKind::other:
      found.kind = "zip archive of something else";
      return;
    case ArchiveKind::saved:
      if (!may_be_tensors(entries)) {
        found.kind = "state_dict or pickled model of torch.save, no data";
        found.advice = "inputs are saved alone: torch.save([x, y], path)";
        return;
      }
      found.kind = "tensors of torch.save";
      found.data_type = "tensors";
      found.needs_unpickling = true;
      return;
  }
}

/// Whether the beginning is UTF-8 without control characters other than white space.
bool looks_like_text(std::span<const std::byte> bytes) {
  const size_t length = std::min(bytes.size(), kTextProbeBytes);
  std::string text(reinterpret_cast<const char*>(bytes.data()), length);
  const bool control = std::any_of(text.begin(), text.end(), [](unsigned char c) {
    return c < 0x20 && std::string_view("\t\n\r\f\x1b").find(static_cast<char>(c)) == std::string_view::npos;
  });
  if (control) return false;
  for (int cut = 0; cut < 4; ++cut) {  // the probe may end inside a character
    if (is_utf8(text)) return true;
    if (length == bytes.size() || text.empty()) return false;
    text.pop_back();
  }
  return false;
}

bool is_called_cifar(const std::string& path) {
  const std::string name = fs::path(path).filename().string();
  return name.ends_with(".bin") && (name.starts_with("data_batch") || name.starts_with("test_batch"));
}

void inspect_picture(const MappedFile& file, Inspection& found) {
  check_picture_file(file.path());
  const PictureHeader header = read_picture_header(file.path());
  found.kind =
      fmt::format("{} picture of {} x {} pixels", header.format == PictureFormat::jpeg ? "JPEG" : "PNG",
                  header.width, header.height);
  found.advice = "data.type images reads folders: name the folder that it lies in";
}

void inspect_file(const MappedFile& file, Inspection& found) {
  const std::span<const std::byte> bytes = file.bytes();
  if (bytes.empty()) throw usage_error(found.path + ": is empty");
  if (begins_as_npy(bytes)) return inspect_npy(file, found);
  if (begins_as_zip(bytes)) return inspect_archive(file, found);
  if (picture_format(bytes)) return inspect_picture(file, found);
  if (is_called_cifar(found.path)) return inspect_cifar(found);
  if (is_bare_pickle(bytes)) {
    found.kind = "Python pickle, which is never opened";
    found.advice = "save tensors with torch.save([x, y], path), arrays with numpy.save";
    return;
  }
  if (looks_like_text(bytes)) return inspect_text(file, found);
  if (holds_cifar_records(bytes) && bytes.size() >= kLeastCifarBytes) {
    inspect_cifar(found);
    found.advice =
        "told by its labels and length, not by its name" + (found.advice.empty() ? "" : "; " + found.advice);
    return;
  }
  if (bytes.size() % 2 == 0) return inspect_tokens(file, found);
  found.kind = "bytes of no kind that is known";
  found.advice = "data.type text reads any file, a byte a token";
}

}  // namespace

Inspection inspect_data(const std::string& path) {
  Inspection found;
  found.path = path;
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found) throw usage_error(path + ": no such file or folder");
  if (!fs::is_directory(status)) {
    inspect_file(MappedFile(path), found);
  } else if (has_cifar_batch(path)) {
    inspect_cifar(found);
  } else {
    inspect_images(found);
  }
  return found;
}

void add_tensors(Inspection& found, std::vector<TensorFacts> tensors) {
  found.tensors = std::move(tensors);
  for (const TensorFacts& facts : found.tensors) {
    const bool fits = !facts.shape.empty() && facts.shape.front() == found.tensors.front().shape.front();
    if (fits) continue;
    found.data_type.clear();
    found.advice =
        "no data: the first dimensions differ, but must be the samples of all (is it a state_dict, a model's "
        "weights?)";
    return;
  }
  if (found.tensors.empty() || found.tensors.front().shape.front() == 0) {
    found.data_type.clear();
    found.advice = "holds no sample";
    return;
  }
  found.samples = found.tensors.front().shape.front();
  found.config = {{"model", {{"torchscript", "model.pt"}}},
                  {"data",
                   {{"type", "tensors"},
                    {"path", full_path(found.path)},
                    {"batch_size", std::min(kUsualBatch, *found.samples)}}}};
  if (found.advice.empty()) {
    found.advice = "model.pt stands for your model; with model.loss its forward is not given the last tensor";
  }
}

void refuse_tensors(Inspection& found, const std::string& refusal) {
  found.kind = "archive of torch.save, but no data";
  found.data_type.clear();
  found.advice = refusal;
}

}  // namespace flopmark
