#include "results/record_file.h"

#include <fmt/format.h>

#include <cerrno>
#include <fstream>
#include <iterator>
#include <system_error>

#include "config/strict_json.h"
#include "flopmark/error.h"

namespace flopmark {
namespace {

namespace fs = std::filesystem;

constexpr int kMaxDepth = 64;
constexpr uintmax_t kMaxBytes = uintmax_t{1} << 30;

[[noreturn]] void refuse_source(const std::string& source, const std::string& why) {
  throw baseline_error(fmt::format("{}: {}", source, why));
}

[[noreturn]] void refuse(const fs::path& path, const std::string& why) {
  refuse_source(path.string(), why);
}

std::string whole_text_of(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) refuse(path, error ? error.message() : "No such file or directory");
  if (fs::is_directory(status)) refuse(path, "is a folder, not a record");
  if (!fs::is_regular_file(status)) refuse(path, "is not a regular file");
  if (fs::file_size(path, error) > kMaxBytes) refuse(path, "is larger than 1 GiB: not a record");
  errno = 0;
  std::ifstream stream(path, std::ios::binary);
  if (!stream) refuse(path, fmt::format("cannot be read: {}", std::generic_category().message(errno)));
  std::string text{std::istreambuf_iterator<char>(stream), {}};
  if (stream.bad()) refuse(path, "cannot be read to its end");
  return text;
}

/// Bounds the nesting, because what walks the value later does so by recursion.
bool is_shallow(int depth, nlohmann::json::parse_event_t, nlohmann::json&) {
  if (depth > kMaxDepth) throw std::length_error(fmt::format("nested more than {} deep", kMaxDepth));
  return true;
}

}  // namespace

RunRecord parse_record(const std::string& text, const std::string& source) {
  if (text.find_first_not_of(" \t\r\n") == std::string::npos) refuse_source(source, "is empty, not a record");
  nlohmann::json json;
  try {
    json = nlohmann::json::parse(text, is_shallow);
  } catch (const std::length_error& error) {
    refuse_source(source, fmt::format("not a record: {}", error.what()));
  } catch (const nlohmann::json::exception& error) {
    refuse_source(source, fmt::format("is not whole JSON (half-written, or merged with conflicts?): {}",
                                      json_complaint(error)));
  }
  return record_from_json(json, source);
}

RunRecord read_record(const fs::path& path) {
  return parse_record(whole_text_of(path), path.string());
}

}  // namespace flopmark
