#include "launch/progress_line.h"

#include <gtest/gtest.h>

#include <sstream>

namespace flopmark {
namespace {

const std::string kWipe = "\r\x1b[K";

/// A sink on a string, with a clock that only the test moves.
struct Screen {
  explicit Screen(bool terminal, int columns = 80)
      : sink(make_progress_line({&text, terminal, [columns] { return columns; }, [this] { return now_s; }})) {
  }
  /// What was written since the last call.
  std::string taken() {
    std::string written = text.str();
    text.str("");
    return written;
  }

  double now_s = 1000;
  std::ostringstream text;
  std::unique_ptr<ProgressSink> sink;
};

TEST(ProgressLine, RedrawsOneLine) {
  Screen screen(true);
  screen.sink->launch_started(1, 3);
  EXPECT_EQ(screen.taken(), kWipe + "launch 1/3");
  screen.now_s += 1;
  screen.sink->progress({"warmup", 4, 0, 0});
  EXPECT_EQ(screen.taken(), kWipe + "launch 1/3  warmup 4");
  screen.now_s += 1;
  screen.sink->progress({"timed", 0, 50, 0});
  EXPECT_EQ(screen.taken(), kWipe + "launch 1/3  timed");
  screen.now_s += 2;
  // 10 steps in 2 s: 8 s for the other 40; this launch then takes 4 + 8 s, and two more do: 8 + 2 * 12 = 32
  // s.
  screen.sink->progress({"timed", 10, 50, 123.456});
  EXPECT_EQ(screen.taken(), kWipe + "launch 1/3  timed 10/50  123.5 samples/s  32 s left");
  screen.sink->launch_ended();
  EXPECT_EQ(screen.taken(), kWipe);
  screen.sink->launch_ended();
  EXPECT_EQ(screen.taken(), "");
}

TEST(ProgressLine, LaterLaunchesGoByTheMeanOfTheFormer) {
  Screen screen(true);
  screen.sink->launch_started(1, 4);
  screen.sink->launch_ended();
  screen.now_s += 100;
  screen.sink->launch_started(2, 4);
  screen.now_s += 30;
  screen.taken();
  // 100 s each: 70 s of this one, 200 s for two more.
  screen.sink->progress({"warmup", 1, 0, 0});
  EXPECT_EQ(screen.taken(), kWipe + "launch 2/4  warmup 1  4 min 30 s left");
  screen.now_s += 100;
  screen.sink->progress({"timed", 1, 50, 2});
  EXPECT_EQ(screen.taken(), kWipe + "launch 2/4  timed 1/50  2 samples/s  3 min 20 s left");
}

TEST(ProgressLine, DrawsSeldomAndNeverWraps) {
  Screen screen(true, 20);
  screen.sink->launch_started(1, 10);
  screen.sink->progress({"timed", 1, 50, 1});
  EXPECT_EQ(screen.taken(), kWipe + "launch 1/10" + kWipe + "launch 1/10  timed ");
  for (int64_t step = 2; step < 50; ++step) screen.sink->progress({"timed", step, 50, 1});
  EXPECT_EQ(screen.taken(), "");
}

TEST(ProgressLine, SaysThatItIsStopping) {
  Screen screen(true);
  screen.sink->launch_started(1, 1);
  screen.taken();
  screen.sink->stopping(true);
  screen.now_s += 10;
  screen.sink->progress({"timed", 9, 50, 1});
  EXPECT_EQ(screen.taken(), kWipe + "stopping after the present step; Ctrl-C again kills at once");
  screen.sink->stopping(false);
  EXPECT_EQ(screen.taken(), kWipe + "stopping");
  screen.sink.reset();
  EXPECT_EQ(screen.taken(), kWipe);
}

TEST(ProgressLine, PlainLinesOncePerPhaseAndLaunch) {
  Screen screen(false);
  for (int64_t launch = 1; launch <= 2; ++launch) {
    screen.sink->launch_started(launch, 2);
    screen.sink->progress({"load", 0, 0, 0});
    for (int64_t step = 0; step < 5; ++step) screen.sink->progress({"warmup", step, 0, 0});
    for (int64_t step = 0; step < 50; ++step) screen.sink->progress({"timed", step, 50, 9.5});
    screen.sink->launch_ended();
  }
  screen.sink->stopping(true);
  EXPECT_EQ(screen.taken(),
            "launch 1/2: load\nlaunch 1/2: warmup\nlaunch 1/2: timed, 50 steps\n"
            "launch 2/2: load\nlaunch 2/2: warmup\nlaunch 2/2: timed, 50 steps\nlaunch 2/2: stopping\n");
}

TEST(ProgressLine, TurnsOfTwoWorkers) {
  Screen plain(false);
  plain.sink->launch_started(1, 12);
  for (int64_t turn = 1; turn <= 16; ++turn) plain.sink->progress({"turns", turn, 16, 0});
  EXPECT_EQ(plain.taken(), "launch 1/12: turns, 16 turns\n");
  Screen screen(true);
  screen.sink->launch_started(1, 1);
  screen.sink->progress({"turns", 1, 16, 0});
  screen.now_s += 3;
  screen.taken();
  screen.sink->progress({"turns", 4, 16, 0});  // 3 turns in 3 s
  EXPECT_EQ(screen.taken(), kWipe + "launch 1/1  turns 4/16  12 s left");
}

TEST(ProgressLine, QuietWritesNothing) {
  testing::internal::CaptureStderr();
  const auto sink = make_progress_line(true);
  sink->launch_started(1, 1);
  sink->progress({"timed", 1, 2, 3});
  sink->stopping(true);
  sink->launch_ended();
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(ProgressLine, StandardErrorThatIsAFileGetsPlainLines) {
  testing::internal::CaptureStderr();
  const auto sink = make_progress_line(false);
  sink->launch_started(1, 1);
  sink->progress({"timed", 1, 2, 3});
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "launch 1/1: timed, 2 steps\n");
}

TEST(ProgressLine, WaitsAreRoundedUp) {
  EXPECT_EQ(wait_text(0), "0 s");
  EXPECT_EQ(wait_text(58.2), "59 s");
  EXPECT_EQ(wait_text(60), "1 min 00 s");
  EXPECT_EQ(wait_text(185), "3 min 05 s");
  EXPECT_EQ(wait_text(7261), "2 h 02 min");
}

}  // namespace
}  // namespace flopmark
