#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace flopmark {

/// One tensor of a file.
struct TensorFacts {
  std::string name;   ///< empty in a list
  std::string dtype;  ///< as PyTorch names it
  std::vector<int64_t> shape;
  std::optional<int64_t> low, high;  ///< least and greatest value, of whole numbers
};

/// What a file or folder is, as far as it can be told without LibTorch.
struct Inspection {
  std::string path;
  std::string kind;       ///< in words
  std::string data_type;  ///< data.type that reads it; empty: none does
  std::string format;     ///< data.format, of a token file
  std::string advice;     ///< what to do with it, or what is not sure; may be empty
  std::optional<int64_t> samples, tokens, low_id, high_id;
  std::vector<std::string> classes;  ///< of an image folder with sub-folders
  std::optional<int64_t> label_count;
  std::vector<TensorFacts> tensors;
  bool needs_unpickling = false;  ///< its tensors are told by the worker: add_tensors()
  nlohmann::json config;          ///< lines of a config that trains on it; null: none
};

/// Tells by content what `path` is; a token file's ids, labels and picture headers are looked at. Files are
/// not changed, nothing in them runs.
/// @throws Error 200: not there, unreadable, empty, or damaged, in the words of the reader of its kind.
Inspection inspect_data(const std::string& path);

/// Adds what the worker found in a .pt file, samples and config lines with it; or, where the first dimensions
/// are not equal, that it is no data.
void add_tensors(Inspection& inspection, std::vector<TensorFacts> tensors);

/// Notes that the worker found something else than tensors, and what it said.
void refuse_tensors(Inspection& inspection, const std::string& refusal);

}  // namespace flopmark
