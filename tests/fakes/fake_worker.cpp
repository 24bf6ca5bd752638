// A worker without LibTorch: follows launch/protocol.h exactly and makes its numbers up, so that the
// front-end can be tested with exact values and every way a worker can end. Driven by environment variables:
//   FAKE_WORKER       how it behaves: a name of kModes below; "ok" if not set
//   FAKE_STEP_S       seconds per step in its samples, 0.2 if not set; the phases are cut in proportion
//   FAKE_TURNS        how it behaves when it takes turns: see fake_worker_turns.h
//   FAKE_RANKS        how single ranks behave: see fake_worker_ranks.h
//   FAKE_ARGUMENTS_FILE  a file to which it appends its command line, without the program
//   FAKE_PID_FILE     a file to which it appends its process number, and its child's, one per line
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "fakes/fake_samples.h"
#include "fakes/fake_worker_ranks.h"
#include "fakes/fake_worker_talk.h"
#include "fakes/fake_worker_turns.h"
#include "launch/protocol.h"
#include "measure/samples.h"

namespace {

using namespace flopmark::fake;
using flopmark::fake_samples;
using flopmark::LaunchSamples;

constexpr int64_t kFailingStep = 7;

/// 200 GFLOP/s in fp32 and 1 TFLOP/s in bf16, with 2 threads unless told otherwise.
LaunchSamples fake_peaks(const nlohmann::json& request) {
  LaunchSamples samples;
  samples.environment.device_name = "Fake CPU";
  samples.environment.libtorch = "2.15.0";
  const int64_t threads = request.at("threads");
  samples.environment.threads = threads > 0 ? threads : 2;
  std::vector<std::string> precisions = request.at("precisions");
  if (precisions.empty()) precisions = {"fp32", "bf16"};
  for (const std::string& precision : precisions) {
    samples.matmul_rates.push_back(
        {precision, {1024, 2048, 512}, precision == "bf16" ? 1e12 : 2e11, 1.05, 15, 3.1});
  }
  return samples;
}

int finish(const Task& task) {
  if (!task.peak_request.is_null()) {
    go_to_step(task, 1);
    flopmark::write_samples(fake_peaks(task.peak_request), task.samples_path);
    return flopmark::kWorkerWroteSamples;
  }
  go_to_step(task, task.steps);
  say(task, flopmark::format_progress({"save", 0, 0, 0}));
  LaunchSamples samples = fake_samples(task, task.steps);
  add_ranks(task, samples);
  flopmark::write_samples(samples, task.samples_path);
  return flopmark::kWorkerWroteSamples;
}

/// Reports a failure and ends as a worker then does.
int fail(const Task& task, const char* kind, const std::string& text) {
  go_to_step(task, kFailingStep);
  say(task, flopmark::format_failure({kind, "timed", kFailingStep, text}));
  return flopmark::kWorkerSentFailure;
}

/// Dies of `signal` as a worker with a crash handler does, without leaving a core file.
int crash(const Task& task) {
  go_to_step(task, kFailingStep - 2);
  std::cerr << "model.cpp: about to read past the end\n" << std::flush;
  char line[256];
  write_all(task.progress_fd, {line, flopmark::format_crash_line(line, sizeof line, "timed", kFailingStep)});
  std::signal(SIGSEGV, SIG_DFL);
  std::raise(SIGSEGV);
  return 1;
}

int abort_now(const Task& task) {
  go_to_step(task, kFailingStep);
  std::cerr << "terminate called after throwing an instance of \x1b[31m'std::logic_error'\x1b[0m\n"
            << std::flush;
  std::signal(SIGABRT, SIG_DFL);
  std::raise(SIGABRT);
  return 1;
}

int kill_self(const Task& task) {
  go_to_step(task, kFailingStep);
  std::raise(SIGKILL);
  return 1;
}

/// Never finishes its step, but ends when the front-end is gone.
int hang(const Task& task) {
  go_to_step(task, kFailingStep);
  while (listen(std::chrono::hours(1)) != Control::closed) {
  }
  return 1;
}

int hang_deaf(const Task& task) {
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) std::signal(signal, SIG_IGN);
  go_to_step(task, kFailingStep);
  sleep_for_ever();
}

int close_progress(const Task& task) {
  go_to_step(task, kFailingStep);
  for (const int fd : {task.progress_fd, STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::close(fd);
  sleep_for_ever();
}

int error200(const Task& task) {
  say(task, flopmark::format_hello());
  say(task,
      flopmark::format_worker_error({flopmark::ExitCode::usage, "corpus.bin: token 300 is not below 256"}));
  return flopmark::kWorkerSentError;
}

/// Reports a failure and then hangs in its clean-up.
int fail_and_hang(const Task& task) {
  fail(task, "out_of_memory", "out of memory: 1 GiB asked for");
  sleep_for_ever();
}

int garbage(const Task& task) {
  go_to_step(task, kFailingStep);
  say(task, "not json\n{\"phase\":[]}\n\x1b[2J\xFF\xFE\n{\"failure\":17}\n");
  say(task, std::string(3 * flopmark::kWorkerLineLimitBytes, 'x') + "\n");
  say(task, flopmark::format_progress({"timed", task.steps, task.steps, 10}));
  flopmark::write_samples(fake_samples(task, task.steps), task.samples_path);
  return flopmark::kWorkerWroteSamples;
}

int wrong_protocol(const Task& task) {
  say(task, "{\"protocol\":\"flopmark.worker/2\"}\n");
  sleep_for_ever();
}

int no_hello(const Task& task) {
  say(task, flopmark::format_progress({"load", 0, 0, 0}));
  sleep_for_ever();
}

int silent(const Task& task) {
  flopmark::write_samples(fake_samples(task, task.steps), task.samples_path);
  return flopmark::kWorkerWroteSamples;
}

int no_samples(const Task& task) {
  go_to_step(task, task.steps);
  return flopmark::kWorkerWroteSamples;
}

int bad_samples(const Task& task) {
  go_to_step(task, task.steps);
  std::ofstream(task.samples_path) << "{\"schema\":\"flopmark.samples/1\",";
  return flopmark::kWorkerWroteSamples;
}

int failed_samples(const Task& task) {
  go_to_step(task, kFailingStep);
  LaunchSamples samples = fake_samples(task, kFailingStep - 1);
  samples.status = "failed";
  samples.failure =
      flopmark::Failure{"nan_loss", "timed", kFailingStep, "loss is nan in phase timed, step 7"};
  flopmark::write_samples(samples, task.samples_path);
  return flopmark::kWorkerWroteSamples;
}

int exit3(const Task& task) {
  say(task, flopmark::format_hello());
  for (int i = 1; i <= 30; ++i) std::cout << "line " << i << '\n';
  std::cout << "no newline at the end" << std::flush;
  return 3;
}

/// Leaves a child behind that holds every pipe open and ignores the polite signals.
int grandchild(const Task& task) {
  if (::fork() == 0) {
    note_pid();
    for (const int signal : {SIGTERM, SIGINT, SIGHUP}) std::signal(signal, SIG_IGN);
    sleep_for_ever();
  }
  return finish(task);
}

/// Steps that take long; obeys the control pipe.
int slow(const Task& task) {
  go_to_step(task, 1);
  for (int64_t step = 1; step <= task.steps; ++step) {
    say(task, flopmark::format_progress({"timed", step, task.steps, 10}));
    const Control control = listen(std::chrono::milliseconds(200));
    if (control == Control::closed) return 1;
    if (control == Control::stop) {
      LaunchSamples samples = fake_samples(task, step);
      samples.status = "incomplete";
      flopmark::write_samples(samples, task.samples_path);
      return flopmark::kWorkerWroteSamples;
    }
  }
  return finish(task);
}

int flood(const Task& task) {
  go_to_step(task, kFailingStep);
  const std::string junk(32 * 1024, 'x');
  std::thread([&] {
    while (true) write_all(STDOUT_FILENO, junk + "\n");
  }).detach();
  while (true) write_all(task.progress_fd, junk);
}

const std::map<std::string, int (*)(const Task&)> kModes = {
    {"ok", finish},
    {"crash", crash},
    {"abort", abort_now},
    {"kill", kill_self},
    {"hang", hang},
    {"hang_deaf", hang_deaf},
    {"close_progress", close_progress},
    {"nan", [](const Task& task) { return fail(task, "nan_loss", "loss is nan"); }},
    {"oom", [](const Task& task) { return fail(task, "out_of_memory", "out of memory: 1 GiB asked for"); }},
    {"fail_and_hang", fail_and_hang},
    {"error200", error200},
    {"garbage", garbage},
    {"wrong_protocol", wrong_protocol},
    {"no_hello", no_hello},
    {"silent", silent},
    {"no_samples", no_samples},
    {"bad_samples", bad_samples},
    {"failed_samples", failed_samples},
    {"exit3", exit3},
    {"grandchild", grandchild},
    {"slow", slow},
    {"flood", flood},
    {"survivor", [](const Task& task) { return survive(task, kFailingStep); }},
};

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = variable("FAKE_WORKER", "ok");
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  // The deaf one leaves its end to the front-end alone.
  if (mode != "hang_deaf") ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  note_pid();
  note_arguments(argc, argv);
  if (argc == 2 && std::string(argv[1]) == "--version") {
    if (mode == "exit3") return 3;
    if (mode == "garbage") return std::puts("2.15.0") < 0 ? 1 : 0;
    std::cerr << "a warning of some library\n";
    std::cout << flopmark::format_version({flopmark::kWorkerProtocol, "2.15.0", ""}) << std::flush;
    return 0;
  }
  if (argc == 4 && std::string(argv[1]) == "--environment") {
    const std::string device = argv[3];
    if (mode != "exit3" && device.starts_with("cuda:") && std::stoll(device.substr(5)) > 1) {
      std::cerr << "device: \"" << device << "\", but there are 2 CUDA devices here\n";
      return 200;
    }
    flopmark::Environment environment = fake_samples({}, 0).environment;
    environment.device_uuid = "GPU-\x1b[31m";  // a name must not get at the terminal
    environment.variables["FAKE_DEVICE"] = device;
    std::cerr << "a warning of some library\n";
    std::cout << flopmark::to_json(environment).dump() << std::endl;
    return mode == "exit3" ? 3 : 0;
  }
  const Task task = task_of(argc, argv);
  const auto found = kModes.find(mode_of(task));
  if (found == kModes.end()) {
    std::cerr << mode_of(task) << " is not a mode\n";
    return 2;
  }
  return task.turns > 0 ? take_turns(task) : found->second(task);
}
