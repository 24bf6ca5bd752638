#pragma once

#include <string>

namespace flopmark {

/// While alive, the operators of this thread belong to the module `path` of the model
/// (layers.3.attention.wq); an inner scope takes over until it ends. Two stores: cheap enough for a timed
/// step. `path` must outlive it.
class ModuleScope {
 public:
  explicit ModuleScope(const std::string& path) : outer_(current_) { current_ = &path; }
  ~ModuleScope() { current_ = outer_; }
  ModuleScope(const ModuleScope&) = delete;
  ModuleScope& operator=(const ModuleScope&) = delete;

  /// nullptr outside any scope.
  static const std::string* current() { return current_; }

 private:
  static inline thread_local const std::string* current_ = nullptr;
  const std::string* outer_;
};

}  // namespace flopmark
