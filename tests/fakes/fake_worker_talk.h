#pragma once

#include <poll.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "fakes/fake_samples.h"
#include "launch/protocol.h"

/// What the fake worker is told, and how it talks with the front-end.
namespace flopmark::fake {

inline std::string variable(const char* name, const char* otherwise) {
  const char* value = std::getenv(name);
  return value == nullptr ? otherwise : value;
}

/// What the command line and the config say.
struct Task : FakeTask {
  std::string samples_path;
  int progress_fd = -1;
  int64_t turns = 0;            ///< of --turns: takes turns (fake_worker_turns.h)
  int64_t rank = 0, ranks = 1;  ///< of --rank and --ranks
  nlohmann::json peak_request;  ///< of --measure-peak; null otherwise
};

inline Task task_of(int argc, char** argv) {
  std::map<std::string, std::string> options;
  for (int i = 1; i + 1 < argc; i += 2) options[argv[i]] = argv[i + 1];
  const auto config = nlohmann::json::parse(std::ifstream(options.at("--config")));
  Task task;
  task.step_s = std::stod(variable("FAKE_STEP_S", "0.2"));
  task.samples_path = options.at("--samples");
  task.progress_fd = std::stoi(options.at("--progress-fd"));
  if (options.count("--turns") > 0) task.turns = std::stoll(options["--turns"]);
  if (options.count("--ranks") > 0) {
    task.rank = std::stoll(options.at("--rank"));
    task.ranks = std::stoll(options.at("--ranks"));
  }
  if (std::string(argv[argc - 1]) == "--measure-peak") {
    task.peak_request = config;
    return task;
  }
  task.steps = config.at("measure").at("steps");
  task.warmup_steps = config.at("measure").value("warmup_min_steps", 10);
  task.batch_size = config.at("data").at("batch_size");
  task.sequence_length = config.at("data").value("sequence_length", 0);
  if (config.contains("train")) task.accumulation = config["train"].value("gradient_accumulation", 1);
  return task;
}

inline void write_all(int fd, const std::string& text) {
  for (size_t done = 0; done < text.size();) {
    const ssize_t written = ::write(fd, text.data() + done, text.size() - done);
    if (written < 0) return;
    done += static_cast<size_t>(written);
  }
}

inline void say(const Task& task, const std::string& line) {
  write_all(task.progress_fd, line);
}

/// Loads, warms up and begins the timed steps, as far as progress lines show it.
inline void go_to_step(const Task& task, int64_t step) {
  say(task, format_hello());
  say(task, format_progress({"load", 0, 0, 0}));
  say(task, format_progress({"warmup", task.warmup_steps, 0, 0}));
  say(task, format_progress({"timed", step, task.steps, 10}));
}

/// What the control pipe says within `wait`.
enum class Control { nothing, stop, closed };
inline Control listen(std::chrono::milliseconds wait) {
  pollfd watched{STDIN_FILENO, POLLIN, 0};
  if (::poll(&watched, 1, static_cast<int>(wait.count())) <= 0) return Control::nothing;
  char bytes[64];
  return ::read(STDIN_FILENO, bytes, sizeof bytes) > 0 ? Control::stop : Control::closed;
}

[[noreturn]] inline void sleep_for_ever() {
  while (true) std::this_thread::sleep_for(std::chrono::hours(1));
}

inline void note_pid() {
  const std::string file = variable("FAKE_PID_FILE", "");
  if (!file.empty()) std::ofstream(file, std::ios::app) << ::getpid() << '\n';
}

/// One line for all of the command line.
inline void note_arguments(int argc, char** argv) {
  std::string line;
  for (int i = 1; i < argc; ++i) line.append(i == 1 ? "" : " ").append(argv[i]);
  const std::string file = variable("FAKE_ARGUMENTS_FILE", "");
  if (!file.empty()) std::ofstream(file, std::ios::app) << line + "\n";
}

}  // namespace flopmark::fake
