#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "flopmark/error.h"

namespace flopmark {

/// Standard output took not all of a command's output (exit code 202, as for any other result that could not
/// be written).
class OutputError : public Error {
 public:
  explicit OutputError(const std::string& text) : Error(ExitCode::baseline, text) {}
};

/// Writes `text` to standard output at once. @throws OutputError if it is closed or full: nothing that was
/// measured is lost by it, but whoever reads the output must not take a part for the whole.
void write_output(std::string_view text);

/// "flopmark: error: <text>" on standard error. Never throws.
void write_error(std::string_view text) noexcept;

/// "flopmark: warning: <text>" on standard error: the command goes on. Never throws.
void write_warning(std::string_view text) noexcept;

/// What every message on standard error begins with from now on, after "flopmark: error: " and the like; of a
/// rank among several.
void set_message_origin(const std::string& origin);

/// "flopmark: <text>" on standard error. Never throws.
void write_note(std::string_view text) noexcept;

/// Opens what of the three standard descriptors is closed, so that no file of ours takes its number; writing
/// to them still fails. Makes a closed pipe an error that can be reported instead of a signal.
void prepare_standard_streams();

/// `path` as the user would type it: relative when it lies in the current folder.
std::string display_path(const std::filesystem::path& path);

}  // namespace flopmark
