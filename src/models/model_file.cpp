#include "models/model_file.h"

#include <c10/util/Exception.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "config/strict_json.h"
#include "flopmark/error.h"

namespace flopmark {
namespace {

constexpr size_t kLongestReason = 300;

std::string text_of(const std::exception& error) {
  if (const auto* torch_error = dynamic_cast<const c10::Error*>(&error)) {
    return torch_error->what_without_backtrace();
  }
  if (const auto* json_error = dynamic_cast<const nlohmann::json::exception*>(&error)) {
    return json_complaint(*json_error);
  }
  return error.what();
}

/// What the reader of zip archives says of one that is cut short or changed.
bool is_damage(const std::string& reason) {
  constexpr std::array<const char*, 3> kSigns = {"central directory", "miniz", "PytorchStreamReader"};
  return std::any_of(kSigns.begin(), kSigns.end(),
                     [&](const char* sign) { return reason.find(sign) != std::string::npos; });
}

}  // namespace

void ModelFile::refuse(const std::string& why) const {
  throw judge_error(fmt::format("{} {}: {}", key, path, why));
}

void ModelFile::refuse(const std::exception& error) const {
  const bool no_memory = dynamic_cast<const c10::OutOfMemoryError*>(&error) != nullptr ||
                         dynamic_cast<const std::bad_alloc*>(&error) != nullptr;
  if (no_memory) throw;
  const std::string reason = reason_line(error);
  refuse(is_damage(reason)
             ? fmt::format("cannot be loaded: it is cut short or damaged; copy it again, or save it "
                           "again with {}",
                           maker)
             : fmt::format("cannot be loaded: {}; save the model again with {}", reason, maker));
}

void check_beginning(const ModelFile& file) {
  std::error_code error;
  const auto status = std::filesystem::status(file.path, error);
  if (status.type() == std::filesystem::file_type::not_found)
    file.refuse("no such file; build it, or mend the path");
  if (!std::filesystem::is_regular_file(status)) file.refuse("is not a regular file");
  errno = 0;
  std::ifstream stream(file.path, std::ios::binary);
  if (!stream) file.refuse(fmt::format("cannot be read: {}", std::strerror(errno)));
  std::array<char, 4> first{};
  stream.read(first.data(), first.size());
  const std::string_view begin(first.data(), static_cast<size_t>(stream.gcount()));
  if (begin.empty()) file.refuse(fmt::format("is empty; save the model again with {}", file.maker));
  if (begin.front() == '\x80') {
    file.refuse(fmt::format("is a Python pickle, not {}; save the model with {}", file.kind, file.maker));
  }
  if (begin.substr(0, 2) != "PK") {
    file.refuse(
        fmt::format("is no {} file (not a zip archive); save the model with {}", file.kind, file.maker));
  }
}

std::string reason_line(const std::exception& error) {
  std::string text = text_of(error);
  text.erase(0, std::min(text.find_first_not_of(" \n"), text.size()));
  return text.substr(0, std::min(text.find('\n'), kLongestReason));
}

}  // namespace flopmark
