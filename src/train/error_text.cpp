#include "train/error_text.h"

#include <c10/util/Exception.h>

namespace flopmark {

std::string first_line_of(const std::exception& error) {
  const auto* torch_error = dynamic_cast<const c10::Error*>(&error);
  const std::string text = torch_error != nullptr ? torch_error->what_without_backtrace() : error.what();
  const std::string line = text.substr(0, text.find('\n'));
  const std::string told =
      line.substr(0, line.find("This is typically caused"));  // Gloo's guesses, and wishes
  return told.substr(0, told.find_last_not_of(' ') + 1);
}

}  // namespace flopmark
