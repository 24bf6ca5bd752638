#include "worker/describe_failure.h"

#include <c10/util/Exception.h>

#include <new>
#include <optional>

#include "worker/memory.h"

namespace flopmark {
namespace {

bool is_out_of_memory(const std::exception& error) {
  const std::string text = error.what();
  return dynamic_cast<const c10::OutOfMemoryError*>(&error) != nullptr ||
         dynamic_cast<const std::bad_alloc*>(&error) != nullptr ||
         text.find("can't allocate memory") != std::string::npos ||
         text.find("not enough memory") != std::string::npos ||
         text.find("out of memory") != std::string::npos;
}

/// The interpreter shows the model's source lines, and what went wrong last.
std::string interpreter_message(const std::string& text) {
  const size_t end = text.find_last_not_of('\n');
  const size_t begin = text.rfind('\n', end);
  return "the TorchScript model's forward or loss failed: " +
         text.substr(begin == std::string::npos ? 0 : begin + 1, end - begin) +
         "; does the data (sizes, dtypes, range of the labels) fit its arguments?";
}

/// LibTorch's messages carry a C++ stack trace behind the first line; users get the first line.
std::string message_of(const std::exception& error) {
  const auto* torch_error = dynamic_cast<const c10::Error*>(&error);
  std::string text = torch_error != nullptr ? torch_error->what_without_backtrace() : error.what();
  text = text.substr(0, text.find("\nException raised from"));
  if (text.find("TorchScript interpreter") != std::string::npos) return interpreter_message(text);
  const bool is_label = text.rfind("Target ", 0) == 0 && text.find("out of bounds") != std::string::npos;
  return is_label ? text + "; the data has a label that is no class of the model" : text;
}

}  // namespace

Failure failure_at(const LoopState& state, const std::string& kind, const std::string& text) {
  const int64_t step = state.step.load();
  return {.kind = kind,
          .phase = stage_name(state.stage.load()),
          .step = step > 0 ? std::optional<int64_t>(step) : std::nullopt,
          .text = text};
}

Failure describe_failure(const std::exception& error, const LoopState& state) {
  if (const auto* nan = dynamic_cast<const NanLoss*>(&error)) {
    return {.kind = "nan_loss", .phase = stage_name(nan->stage), .step = nan->step, .text = nan->what()};
  }
  if (is_out_of_memory(error)) {
    return failure_at(state, "out_of_memory", message_of(error) + " (" + free_memory_text() + ")");
  }
  return failure_at(state, "error", message_of(error));
}

}  // namespace flopmark
