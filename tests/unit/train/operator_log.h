#pragma once

#include <ATen/record_function.h>
#include <torch/types.h>

#include <map>
#include <mutex>
#include <set>
#include <string>

namespace flopmark::test {

/// Every operator dispatched in any thread while it is alive, with the dtypes of its first input. One at a
/// time.
class OperatorLog {
 public:
  OperatorLog() {
    seen().clear();
    handle_ = at::addGlobalCallback(
        at::RecordFunctionCallback(&OperatorLog::note).needsInputs(true).scopes({at::RecordScope::FUNCTION}));
  }
  ~OperatorLog() { at::removeCallback(handle_); }
  OperatorLog(const OperatorLog&) = delete;
  OperatorLog& operator=(const OperatorLog&) = delete;

  std::set<torch::Dtype> dtypes(const std::string& name) const {
    const std::lock_guard lock(mutex());
    const auto found = seen().find(name);
    return found == seen().end() ? std::set<torch::Dtype>{} : found->second;
  }
  bool ran(const std::string& name) const { return !dtypes(name).empty(); }

 private:
  static std::map<std::string, std::set<torch::Dtype>>& seen() {
    static std::map<std::string, std::set<torch::Dtype>> map;
    return map;
  }
  static std::mutex& mutex() {
    static std::mutex one;
    return one;
  }
  static std::unique_ptr<at::ObserverContext> note(const at::RecordFunction& function) {
    const auto inputs = function.inputs();
    if (!inputs.empty() && inputs[0].isTensor()) {
      const std::lock_guard lock(mutex());
      seen()[function.name()].insert(inputs[0].toTensor().scalar_type());
    }
    return nullptr;
  }
  at::CallbackHandle handle_ = 0;
};

}  // namespace flopmark::test
