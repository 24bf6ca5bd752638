#pragma once

#include <c10/core/Storage.h>
#include <torch/types.h>

#include <map>
#include <string>

#include "models/exported_archive.h"

namespace flopmark {

/// The parameters, buffers and constants of an archive, by name. Names of one tensor give one tensor, however
/// many they are, and tensors that shared a storage share it here.
class ExportedTensors {
 public:
  /// Tensors are made on `device`. @throws Error 125 if the archive's lists of them are broken.
  ExportedTensors(ExportedArchive& archive, const torch::Device& device);
  /// Parameters that are to be trained require a gradient. @throws Error 125 if there is no tensor of this
  /// name, or it is broken.
  torch::Tensor find(const std::string& name);

 private:
  const nlohmann::json& payload(const std::string& name, std::string& record) const;
  torch::Tensor make(const nlohmann::json& payload, const std::string& record);
  c10::Storage storage(const std::string& record);

  ExportedArchive& archive_;
  torch::Device device_;
  nlohmann::json weights_, constants_;
  std::map<std::string, c10::Storage> storages_;  ///< by record
  std::map<std::string, torch::Tensor> tensors_;  ///< by record and shape
};

}  // namespace flopmark
