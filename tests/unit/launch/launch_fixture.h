#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "launch/launch.h"

namespace flopmark {

/// Far longer than anything here takes, so that only a hang runs into it.
inline constexpr std::chrono::seconds kPatience{60};

/// Tries `condition` until it holds or patience ends.
inline bool holds_soon(const std::function<bool()>& condition) {
  const auto give_up = std::chrono::steady_clock::now() + kPatience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > give_up) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

/// Whether a process has ended; a zombie that nobody has reaped yet has.
inline bool is_gone(pid_t pid) {
  std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  if (!std::getline(stat, text)) return true;
  const size_t state = text.rfind(") ");
  return state == std::string::npos || text[state + 2] == 'Z' || text[state + 2] == 'X';
}

inline bool has_no_children() {
  return ::waitpid(-1, nullptr, WNOHANG) == -1 && errno == ECHILD;
}

/// Keeps what it is told; a test may act on it.
struct RecordingSink : ProgressSink {
  void launch_started(int64_t, int64_t) override {}
  void progress(const ProgressUpdate& update) override {
    updates.push_back(update);
    if (on_progress) on_progress(update);
  }
  void stopping(bool after_step) override {
    stops_after_step = after_step;
    ++stops;
    if (on_stopping) on_stopping();
  }
  void launch_ended() override {}

  std::vector<ProgressUpdate> updates;
  int stops = 0;
  bool stops_after_step = false;  ///< as the last one said
  std::function<void(const ProgressUpdate&)> on_progress;
  std::function<void()> on_stopping;
};

/// A scratch folder and the fake worker in one of its modes (see tests/fakes/fake_worker.cpp).
class LaunchTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    scratch_ = std::filesystem::path(testing::TempDir()) /
               ("flopmark-" + std::string(test->name()) + "-" + std::to_string(::getpid()));
    std::filesystem::create_directories(scratch_);
    pid_file_ = scratch_ / "pids";
    ::setenv("FAKE_PID_FILE", pid_file_.c_str(), 1);
    // A shell may have started the tests with these ignored, and what is ignored stays ignored.
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) std::signal(signal, SIG_DFL);
  }
  void TearDown() override {
    ::unsetenv("FAKE_WORKER");
    ::unsetenv("FAKE_PID_FILE");
    for (const pid_t pid : pids()) {
      if (!is_gone(pid)) ::kill(pid, SIGKILL);  // left by a test that failed
    }
    std::filesystem::remove_all(scratch_);
  }

  LaunchRequest request(const char* mode) const {
    ::setenv("FAKE_WORKER", mode, 1);
    LaunchRequest request;
    request.worker = FLOPMARK_FAKE_WORKER;
    request.config = {{"measure", {{"steps", 50}, {"warmup_min_steps", 10}}},
                      {"data", {{"batch_size", 2}, {"sequence_length", 32}}},
                      {"train", {{"gradient_accumulation", 1}}}};
    request.scratch = scratch_;
    request.timeout = kPatience;
    return request;
  }
  LaunchOutcome launch(const char* mode) { return run_launch(request(mode), sink_); }

  /// The processes of the fake worker that have said so: itself, then its child.
  std::vector<pid_t> pids() const {
    std::ifstream file(pid_file_);
    std::vector<pid_t> pids;
    for (std::string line; std::getline(file, line) && !file.eof();) pids.push_back(std::stoi(line));
    return pids;
  }
  void expect_nothing_left() const {
    EXPECT_TRUE(has_no_children());
    for (const pid_t pid : pids()) EXPECT_TRUE(holds_soon([pid] { return is_gone(pid); })) << pid;
  }

  std::filesystem::path scratch_, pid_file_;
  RecordingSink sink_;
};

}  // namespace flopmark
