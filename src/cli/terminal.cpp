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

/// The whole process's, as standard error is.
std::string& message_origin() {
  static std::string origin;
  return origin;
}

/// What a name or path brings along must not steer the terminal: control characters other than line breaks
/// are shown as "?".
bool steers_terminal(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte < 0x20 && c != '\n' && c != '\t') || byte == 0x7F;
}

/// In one go, so that the lines of several ranks do not run into each other.
void write_line(std::string_view intro, std::string_view text) noexcept {
  try {
    std::string line(intro);
    if (!text.starts_with(message_origin())) line += message_origin();
    line += text;
    std::replace_if(line.begin(), line.end(), steers_terminal, '?');
    if (!line.ends_with('\n')) line += '\n';
    write_all(STDERR_FILENO, line);
  } catch (const std::exception&) {  // no memory for it
    write_all(STDERR_FILENO, intro);
    write_all(STDERR_FILENO, "out of memory\n");
  }
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

void set_message_origin(const std::string& origin) {
  message_origin() = origin;
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
