#include "bisect/journal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <exception>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string_view>
#include <system_error>
#include <utility>

#include "bisect/journal_lines.h"
#include "flopmark/error.h"
#include "measure/json_fields.h"

namespace flopmark {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* kSchema = "flopmark.bisect/1";

[[noreturn]] void refuse_file(const fs::path& path, const char* what, int error) {
  throw baseline_error(
      fmt::format("journal {}: {}: {}", path.string(), what, std::generic_category().message(error)));
}

std::string line_of(const json& object) {
  return object.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

std::string key_of(const ComparisonRequest& request) {
  return fmt::format("{} {} {} {}", to_text(request.comparison), request.a, request.b, request.attempt);
}

std::string key_of(const json& object) {
  return fmt::format("{} {} {} {}", text_field(object, "comparison"), text_field(object, "a"),
                     text_field(object, "b"), count_field(object, "attempt"));
}

/// Refuses results that hold for something else.
void require_subject(const json& object, const JournalSubject& subject, const fs::path& path) {
  const std::string schema = text_field(object, "schema");
  if (schema != kSchema) {
    throw baseline_error(
        fmt::format("journal {}: schema is \"{}\", this flopmark reads \"{}\"; start afresh without "
                    "--resume",
                    path.string(), schema, kSchema));
  }
  const auto found = field(object, "subject").get<JournalSubject>();
  for (const auto& [name, text] : subject) {
    const std::string value = json::parse(line_of(text)).get<std::string>();  // as it would be on file
    const auto old = found.find(name);
    if (old != found.end() && old->second == value) continue;
    throw usage_error(
        fmt::format("journal {} is of another bisection: {} was {}, now {}; start afresh without "
                    "--resume",
                    path.string(), name, old == found.end() ? "absent" : old->second, value));
  }
}

}  // namespace

/// Open for appending, and locked while it is.
class Journal::File {
 public:
  File(const fs::path& path, int flags) : path_(path) {
    descriptor_ = ::open(path.c_str(), flags | O_RDWR | O_APPEND | O_CLOEXEC, 0666);
    if (descriptor_ < 0 && errno == ENOENT) {
      throw usage_error(fmt::format("nothing to resume: there is no {}; leave out --resume", path.string()));
    }
    if (descriptor_ < 0) refuse_file(path, "cannot be opened", errno);
    if (flock(descriptor_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return;
    ::close(descriptor_);
    throw usage_error(fmt::format(
        "journal {}: another flopmark bisect is writing it; wait for it, or stop it", path.string()));
  }
  ~File() { ::close(descriptor_); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  std::string text() const {
    std::ifstream in(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void cut(size_t size_bytes) {
    if (ftruncate(descriptor_, static_cast<off_t>(size_bytes)) != 0)
      refuse_file(path_, "cannot be cut", errno);
  }
  void append(std::string_view line) {
    while (!line.empty()) {
      const ssize_t written = ::write(descriptor_, line.data(), line.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) refuse_file(path_, "cannot be written", errno);
      line.remove_prefix(static_cast<size_t>(written));
    }
    if (fdatasync(descriptor_) != 0) refuse_file(path_, "cannot be flushed to disk", errno);
  }

 private:
  fs::path path_;
  int descriptor_ = -1;
};

Journal::Journal() = default;
Journal::~Journal() = default;
Journal::Journal(Journal&& other) noexcept = default;
Journal& Journal::operator=(Journal&& other) noexcept = default;

Journal Journal::begin(const fs::path& path, const JournalSubject& subject) {
  std::error_code error;
  if (path.has_parent_path()) fs::create_directories(path.parent_path(), error);
  if (error) refuse_file(path, "its folder cannot be made", error.value());
  Journal journal;
  journal.file_ = std::make_unique<File>(path, O_CREAT);
  journal.file_->cut(0);
  journal.file_->append(line_of({{"schema", kSchema}, {"subject", subject}}));
  return journal;
}

Journal Journal::resume(const fs::path& path, const JournalSubject& subject) {
  Journal journal;
  journal.file_ = std::make_unique<File>(path, 0);
  const std::string text = journal.file_->text();
  size_t number = 0, begin = 0;
  for (size_t end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) {
    const std::string line = text.substr(begin, end - begin);
    const bool last = text.find('\n', end + 1) == std::string::npos;
    try {
      if (++number == 1) {
        require_subject(json::parse(line), subject, path);
      } else {
        journal.read_line(line);
      }
    } catch (const Error&) {
      throw;
    } catch (const std::exception& error) {
      if (last && number > 1) break;  // what a power cut leaves
      throw baseline_error(fmt::format("journal {}, line {}: {}; start afresh without --resume",
                                       path.string(), number, error.what()));
    }
  }
  journal.file_->cut(begin);
  if (begin == 0) journal.file_->append(line_of({{"schema", kSchema}, {"subject", subject}}));
  return journal;
}

void Journal::read_line(const std::string& line) {
  const json object = json::parse(line);
  if (object.contains("build")) {
    builds_[text_field(object["build"], "commit")] = parse_build(object["build"]);
  } else {
    const json& inside = field(object, "comparison");
    evidence_[key_of(inside)] = parse_evidence(inside);
  }
}

const CommitBuild* Journal::build_of(const std::string& commit) const {
  const auto found = builds_.find(commit);
  return found == builds_.end() ? nullptr : &found->second;
}

const PairedEvidence* Journal::evidence_of(const ComparisonRequest& request) const {
  const auto found = evidence_.find(key_of(request));
  return found == evidence_.end() ? nullptr : &found->second;
}

void Journal::add(const std::string& commit, const CommitBuild& build) {
  builds_[commit] = build;
  const bool keeps = build.built || build.lasting;
  if (file_ && keeps) file_->append(line_of({{"build", build_json(commit, build)}}));
}

void Journal::add(const ComparisonRequest& request, const PairedEvidence& evidence) {
  evidence_[key_of(request)] = evidence;
  if (file_) file_->append(line_of({{"comparison", evidence_json(request, evidence)}}));
}

}  // namespace flopmark
