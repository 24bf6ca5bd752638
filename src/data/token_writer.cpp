#include "data/token_writer.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "data/mapped_file.h"
#include "data/token_file.h"
#include "flopmark/error.h"

namespace flopmark {
namespace {

namespace fs = std::filesystem;

constexpr size_t kPartIds = size_t{1} << 19;

void check_token_output(const std::string& text, const fs::path& output, bool force) {
  std::error_code error;
  if (!fs::exists(output, error)) return;
  if (!fs::is_regular_file(output, error)) {
    throw usage_error(output.string() + " is no regular file: --output names the token file");
  }
  if (fs::equivalent(text, output, error)) {
    throw usage_error(output.string() + " is the text itself; give --output another name");
  }
  if (!force) {
    throw usage_error(output.string() + " exists: --force overwrites it, or give --output another name");
  }
}

/// A file beside the output that becomes it, or goes.
class Draft {
 public:
  explicit Draft(const fs::path& output) : output_(output), name_(output.string() + ".XXXXXX") {
    descriptor_ = ::mkstemp(name_.data());
    if (descriptor_ < 0) fail_with(errno);
  }
  ~Draft() {
    if (descriptor_ < 0) return;
    ::close(descriptor_);
    ::unlink(name_.c_str());
  }
  Draft(const Draft&) = delete;
  Draft& operator=(const Draft&) = delete;

  void write(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) fail_with(errno);
      bytes = bytes.subspan(static_cast<size_t>(written));
    }
  }
  void become_output() {
    constexpr mode_t kUsualMode = 0644;  // mkstemp makes it for the owner alone
    if (::fchmod(descriptor_, kUsualMode) != 0 || ::fsync(descriptor_) != 0 ||
        ::rename(name_.c_str(), output_.c_str()) != 0) {
      fail_with(errno);
    }
    ::close(std::exchange(descriptor_, -1));
  }

 private:
  [[noreturn]] void fail_with(int error) const {
    throw baseline_error(fmt::format("cannot write {}: {}; what was there before is unchanged",
                                     output_.string(), std::strerror(error)));
  }

  fs::path output_;
  std::string name_;
  int descriptor_ = -1;
};

}  // namespace

int64_t write_byte_tokens(const std::string& text, const fs::path& output, const TokenWriteOptions& options) {
  check_token_output(text, output, options.force);
  const MappedFile file(text);
  const std::span<const std::byte> bytes = file.bytes();
  if (bytes.empty()) throw usage_error(text + ": is empty, so there is nothing to tokenize");
  const bool has_header = options.format == "llmc";
  if (has_header && bytes.size() > static_cast<size_t>(std::numeric_limits<int32_t>::max())) {
    throw usage_error(fmt::format("{}: {} ids are more than llm.c's header can tell; use --format raw-uint16",
                                  text, bytes.size()));
  }
  Draft draft(output);
  if (has_header) {
    const std::vector<int32_t> header = llmc_token_header(static_cast<int32_t>(bytes.size()));
    draft.write(std::as_bytes(std::span(header)));
  }
  std::vector<uint16_t> ids;
  for (std::span<const std::byte> rest = bytes; !rest.empty();) {
    file.check_unchanged();
    const auto part = rest.first(std::min(kPartIds, rest.size()));
    rest = rest.subspan(part.size());
    ids.resize(part.size());
    std::transform(part.begin(), part.end(), ids.begin(),
                   [](std::byte byte) { return std::to_integer<uint16_t>(byte); });
    draft.write(std::as_bytes(std::span(ids)));
  }
  draft.become_output();
  return std::ssize(bytes);
}

}  // namespace flopmark
