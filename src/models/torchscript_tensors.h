#pragma once

#include <caffe2/serialize/read_adapter_interface.h>
#include <torch/csrc/jit/api/module.h>

#include <cstddef>
#include <memory>
#include <string>
#include <unordered_map>

namespace flopmark {

/// Reads an archive for LibTorch and keeps how many bytes came into each place in memory. LibTorch makes a
/// tensor's storage as large as the file's pickle says, whatever the record really holds.
class WatchedReads : public caffe2::serialize::ReadAdapterInterface {
 public:
  explicit WatchedReads(std::shared_ptr<caffe2::serialize::ReadAdapterInterface> file);
  size_t size() const override;
  size_t read(uint64_t pos, void* target, size_t bytes, const char* what) const override;
  /// Bytes that the last read into `place` brought; 0 if there was none, as for what was compressed.
  size_t bytes_at(const void* place) const;
  void forget() { bytes_.clear(); }

 private:
  std::shared_ptr<caffe2::serialize::ReadAdapterInterface> file_;
  mutable std::unordered_map<const void*, size_t> bytes_;
};

/// The first tensor of a module on the CPU (parameters, buffers, other attributes, constants of its code)
/// that reaches beyond what was read for it, by its name or place; empty if none does.
std::string unbacked_tensor(const torch::jit::Module& module, const WatchedReads& reads);

}  // namespace flopmark
