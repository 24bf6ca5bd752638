#include "cli/terminal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <system_error>

namespace flopmark {
namespace {

/// Whether all of `text` went out; errno says why not.
bool write_all(int descriptor, std::string_view text) noexcept {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    text.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

/// What a name or path brings along must not steer the terminal: control characters other than line breaks
/// are shown as "?".
void write_message(std::string_view text) noexcept {
  while (!text.empty()) {
    const auto steers = [](char c) {
      const auto byte = static_cast<unsigned char>(c);
      return (byte < 0x20 && c != '\n' && c != '\t') || byte == 0x7F;
    };
    const auto plain = std::find_if(text.begin(), text.end(), steers);
    write_all(STDERR_FILENO, text.substr(0, static_cast<size_t>(plain - text.begin())));
    if (plain == text.end()) return;
    write_all(STDERR_FILENO, "?");
    text.remove_prefix(static_cast<size_t>(plain - text.begin()) + 1);
  }
}

void write_line(std::string_view intro, std::string_view text) noexcept {
  write_all(STDERR_FILENO, intro);
  write_message(text);
  if (!text.ends_with('\n')) write_all(STDERR_FILENO, "\n");
}

}  // namespace

void write_output(std::string_view text) {
  if (write_all(STDOUT_FILENO, text)) return;
  const std::string reason = std::error_code(errno, std::generic_category()).message();
  throw OutputError("cannot write to standard output: " + reason + "; the output is not whole");
}

void write_error(std::string_view text) noexcept {
  write_line("flopmark: error: ", text);
}

void write_warning(std::string_view text) noexcept {
  write_line("flopmark: warning: ", text);
}

void write_note(std::string_view text) noexcept {
  write_line("flopmark: ", text);
}

void prepare_standard_streams() {
  // Read-only, so that writing to what was closed stays an error.
  while (true) {
    const int descriptor = ::open("/dev/null", O_RDONLY);
    if (descriptor > STDERR_FILENO) ::close(descriptor);
    if (descriptor < 0 || descriptor > STDERR_FILENO) break;
  }
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGCHLD, SIG_DFL);  // ignored, as some parents leave it, how children end could not be learnt
}

std::string display_path(const std::filesystem::path& path) {
  std::error_code error;
  const std::filesystem::path here = std::filesystem::current_path(error);
  if (error || path.is_relative()) return path.string();
  const std::filesystem::path relative = path.lexically_relative(here);
  const bool inside = !relative.empty() && *relative.begin() != "..";
  return inside ? relative.string() : path.string();
}

}  // namespace flopmark
