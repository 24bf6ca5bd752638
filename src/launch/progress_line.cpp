#include "launch/progress_line.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <optional>

#include "flopmark/counted.h"

namespace flopmark {
namespace {

constexpr double kRedrawInterval_s = 0.1;
constexpr int kDefaultColumns = 80;

class QuietSink : public ProgressSink {
 public:
  void launch_started(int64_t, int64_t) override {}
  void progress(const ProgressUpdate&) override {}
  void launch_ended() override {}
};

/// One line per phase and launch.
class PlainSink : public ProgressSink {
 public:
  explicit PlainSink(std::ostream& stream) : stream_(stream) {}

  void launch_started(int64_t launch, int64_t launches) override {
    head_ = fmt::format("launch {}/{}", launch, launches);
    phase_.clear();
  }
  void progress(const ProgressUpdate& update) override {
    if (update.phase == phase_) return;
    phase_ = update.phase;
    std::string line = fmt::format("{}: {}", head_, phase_);
    if (update.steps > 0) line += ", " + counted(update.steps, update.phase == "turns" ? "turn" : "step");
    stream_ << line << '\n' << std::flush;
  }
  void stopping(bool /*after_step*/) override { stream_ << head_ << ": stopping\n" << std::flush; }
  void launch_ended() override {}

 private:
  std::ostream& stream_;
  std::string head_, phase_;
};

/// One line, redrawn in place and wiped when the launch ends.
class TerminalSink : public ProgressSink {
 public:
  explicit TerminalSink(ProgressLineOptions options) : options_(std::move(options)) {}
  ~TerminalSink() override { wipe(); }

  void launch_started(int64_t launch, int64_t launches) override {
    launch_ = launch;
    launches_ = launches;
    launch_began_s_ = options_.now_s();
    began_s_ = launch == 1 ? launch_began_s_ : began_s_;
    phase_.clear();
    stopping_ = false;
    draw(fmt::format("launch {}/{}", launch_, launches_));
  }

  void progress(const ProgressUpdate& update) override {
    const double now_s = options_.now_s();
    const bool new_phase = update.phase != phase_;
    if (new_phase) {
      phase_ = update.phase;
      phase_began_s_ = now_s;
      phase_first_step_ = update.step;
    }
    if (stopping_ || (!new_phase && now_s - drawn_s_ < kRedrawInterval_s)) return;
    draw(line_of(update, now_s));
  }

  void stopping(bool after_step) override {
    stopping_ = true;
    draw(after_step ? "stopping after the present step; Ctrl-C again kills at once" : "stopping");
  }

  void launch_ended() override { wipe(); }

 private:
  std::string line_of(const ProgressUpdate& update, double now_s) const {
    std::string line = fmt::format("launch {}/{}  {}", launch_, launches_, update.phase);
    if (update.step > 0) line += fmt::format(" {}", update.step);
    if (update.step > 0 && update.steps > 0) line += fmt::format("/{}", update.steps);
    if (update.samples_per_s > 0) line += fmt::format("  {:.4g} samples/s", update.samples_per_s);
    if (const auto left_s = time_left_s(update, now_s)) line += fmt::format("  {} left", wait_text(*left_s));
    return line;
  }

  /// From the mean launch so far; in the first launch from the rate of its timed steps. Absent before that.
  std::optional<double> time_left_s(const ProgressUpdate& update, double now_s) const {
    const double in_launch_s = now_s - launch_began_s_;
    if (launch_ > 1) {
      const double mean_s = (launch_began_s_ - began_s_) / static_cast<double>(launch_ - 1);
      return std::max(0.0, mean_s - in_launch_s) + mean_s * static_cast<double>(launches_ - launch_);
    }
    const int64_t done = update.step - phase_first_step_;
    if ((update.phase != "timed" && update.phase != "turns") || done <= 0 || update.steps < update.step)
      return std::nullopt;
    const double step_s = (now_s - phase_began_s_) / static_cast<double>(done);
    const double rest_s = step_s * static_cast<double>(update.steps - update.step);
    return rest_s + (in_launch_s + rest_s) * static_cast<double>(launches_ - 1);
  }

  void draw(const std::string& line) {
    drawn_s_ = options_.now_s();
    // The last column stays free: some terminals wrap there, and a wrapped line cannot be redrawn.
    const auto room = static_cast<size_t>(std::max(1, options_.width_columns() - 1));
    *options_.stream << "\r\x1b[K" << line.substr(0, room) << std::flush;
    on_screen_ = true;
  }

  void wipe() {
    if (on_screen_) *options_.stream << "\r\x1b[K" << std::flush;
    on_screen_ = false;
  }

  ProgressLineOptions options_;
  int64_t launch_ = 0, launches_ = 0, phase_first_step_ = 0;
  double began_s_ = 0, launch_began_s_ = 0, phase_began_s_ = 0, drawn_s_ = 0;
  std::string phase_;
  bool on_screen_ = false, stopping_ = false;
};

int stderr_columns() {
  winsize size{};
  const bool known = ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : kDefaultColumns;
}

bool stderr_can_redraw() {
  const char* kind = std::getenv("TERM");
  return ::isatty(STDERR_FILENO) == 1 && kind != nullptr && std::string(kind) != "dumb";
}

double steady_now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

std::string wait_text(double wait_s) {
  const auto seconds = static_cast<int64_t>(std::ceil(std::clamp(wait_s, 0.0, 1e9)));
  if (seconds < 60) return fmt::format("{} s", seconds);
  if (seconds < 3600) return fmt::format("{} min {:02} s", seconds / 60, seconds % 60);
  const int64_t minutes = (seconds + 59) / 60;
  return fmt::format("{} h {:02} min", minutes / 60, minutes % 60);
}

std::unique_ptr<ProgressSink> make_progress_line(const ProgressLineOptions& options) {
  if (!options.terminal) return std::make_unique<PlainSink>(*options.stream);
  return std::make_unique<TerminalSink>(options);
}

std::unique_ptr<ProgressSink> make_progress_line(bool quiet) {
  if (quiet) return std::make_unique<QuietSink>();
  return make_progress_line({&std::cerr, stderr_can_redraw(), stderr_columns, steady_now_s});
}

}  // namespace flopmark
