#pragma once

#include <torch/types.h>

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "config/run_config.h"
#include "models/exported_schema.h"

namespace flopmark {

/// An argument of the exported forward.
struct ExportedInput {
  std::string name;
  torch::Dtype dtype;
  std::vector<ExportedSize> sizes;
};

/// What an exported model takes: tensors whose sizes are fixed, or symbols within bounds.
class ExportedInputs {
 public:
  /// Of the document models/model.json. @throws std::runtime_error if it is broken.
  explicit ExportedInputs(const nlohmann::json& program);

  const std::vector<ExportedInput>& all() const { return inputs_; }
  /// @throws Error 200 if the tensors are not of the exported types and sizes, with the names of both; `path`
  /// is the model's file.
  void check(const std::vector<torch::Tensor>& tensors, const std::string& path) const;

 private:
  struct Range {
    std::optional<int64_t> least, most;
  };
  struct Dimension {
    size_t input = 0, number = 0;  ///< from 0
  };
  std::string place_text(const Dimension& place, const std::string& path) const;
  void check_bounds(const Dimension& place, int64_t size, const std::string& path) const;

  std::vector<ExportedInput> inputs_;
  std::map<std::string, Range> ranges_;  ///< of symbols
};

/// data.inputs as the file says: sizes and types of its graph, the range of whole numbers by its sample
/// inputs. `batch_size` is data.batch_size, 0 where it is not given.
/// @throws Error 200 if the file does not say them all, or another batch; 125 as ExportedModel.
std::vector<InputSpec> exported_data_inputs(const std::string& path, int64_t batch_size);

/// The samples of a batch that the file is made for, where data other than random is put in.
/// @throws as exported_data_inputs().
int64_t exported_batch_size(const std::string& path, int64_t batch_size);

}  // namespace flopmark
