#include "cli/ab_progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <string_view>

#include "launch/progress_line.h"

namespace flopmark {
namespace {

constexpr size_t kShownDigits = 10;

bool can_redraw() {
  const char* kind = std::getenv("TERM");
  return ::isatty(STDERR_FILENO) == 1 && kind != nullptr && std::string_view(kind) != "dumb";
}

}  // namespace

AbProgress::AbProgress(bool quiet, std::vector<size_t> looks)
    : quiet_(quiet), terminal_(can_redraw()), looks_(std::move(looks)) {}

void AbProgress::building(const std::string& commit) {
  show("building " + commit.substr(0, kShownDigits));
}

void AbProgress::waiting_for_build(const std::string& commit) {
  show("waiting until another flopmark has built " + commit.substr(0, kShownDigits));
}

void AbProgress::pair_begins(const PairedProgress& progress) {
  const bool after_look = std::find(looks_.begin(), looks_.end(), progress.pair - 1) != looks_.end();
  if (terminal_ || progress.pair == 1 || after_look) show(progress_text(progress));
}

void AbProgress::show(const std::string& line) {
  if (quiet_) return;
  wipe();
  std::cerr << line << (terminal_ ? "" : "\n") << std::flush;
  on_screen_ = terminal_;
}

void AbProgress::wipe() {
  if (on_screen_) std::cerr << "\r\x1b[K" << std::flush;
  on_screen_ = false;
}

std::string progress_text(const PairedProgress& progress) {
  std::string text = fmt::format("{}: pair {} of at most {}", progress.name, progress.pair, progress.most);
  if (progress.most_left_s) text += fmt::format(", at most {} left", wait_text(*progress.most_left_s));
  return text;
}

}  // namespace flopmark
