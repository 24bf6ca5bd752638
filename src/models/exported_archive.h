#pragma once

#include <c10/core/Allocator.h>

#include <cstddef>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "models/model_file.h"

namespace caffe2::serialize {
class PyTorchStreamReader;
}

namespace flopmark {

/// A file of torch.export.save: records in a zip archive. It is not trusted: nothing is read that unpacks to
/// more than the file holds, and all that is read together is no more than that.
class ExportedArchive {
 public:
  /// @throws Error 125, in one line, if there is no such file, it is of another kind or broken, or of a
  /// version that is not read here.
  explicit ExportedArchive(const std::string& path);
  ~ExportedArchive();
  ExportedArchive(const ExportedArchive&) = delete;
  ExportedArchive& operator=(const ExportedArchive&) = delete;

  const ModelFile& file() const { return file_; }
  /// The document of the graph, models/model.json, its schema version checked. @throws Error 125.
  nlohmann::json graph();
  /// "data/weights/{model}_weights_config.json" with the model's name in the braces. @throws Error 125.
  nlohmann::json document(const std::string& pattern);
  /// A record's name of such a pattern; empty if the archive has none.
  std::string find(const std::string& pattern) const;
  /// The bytes of a record. @throws Error 125.
  std::pair<c10::DataPtr, size_t> bytes(const std::string& record);

 private:
  void check_kind();
  void check_versions();
  void choose_model();
  std::string text(const std::string& record);

  ModelFile file_;
  std::string model_;  ///< the name of the one model in the archive
  size_t bytes_left_ = 0;
  std::unique_ptr<caffe2::serialize::PyTorchStreamReader> reader_;
};

}  // namespace flopmark
