#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "flopmark/batch.h"

namespace flopmark {

/// A finite set of samples. `collate` may be called from several loader threads at once.
class Dataset {
 public:
  virtual ~Dataset() = default;
  /// Samples per epoch, > 0.
  virtual int64_t size() const = 0;
  /// The batch made of these samples, on the host. Indices in [0, size()).
  virtual Batch collate(const std::vector<size_t>& indices) const = 0;

  struct Facts {
    std::optional<std::string> path, format, hash;
    std::optional<int64_t> tokens;
  };
  /// What is known of the source, for the record.
  virtual Facts facts() const { return {}; }
};

}  // namespace flopmark
