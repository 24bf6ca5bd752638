#include "launch/worker_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/close_range.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <thread>

#include "flopmark/error.h"
#include "launch/child_start.h"
#include "launch/process_environment.h"

namespace flopmark {
namespace {

/// Everything the child needs between fork and exec, made before, since nothing there may allocate.
struct ChildPlan {
  pid_t parent;
  int control, log, progress, exec_error;
  char* const* command;
  char* const* environment;
};

/// The child from fork to exec: async-signal-safe calls only. All signals are blocked when it starts.
[[noreturn]] void become_worker(const ChildPlan& plan) noexcept {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != plan.parent) ::_exit(127);  // died before the line above took effect
  restore_signals();
  const bool placed = ::dup2(plan.control, STDIN_FILENO) >= 0 && ::dup2(plan.log, STDOUT_FILENO) >= 0 &&
                      ::dup2(plan.log, STDERR_FILENO) >= 0 &&
                      ::dup2(plan.progress, WorkerProcess::kProgressFd) >= 0;
  if (placed) {
    // Ours are close-on-exec already; this is for what this process itself inherited. Not there before
    // Linux 5.11.
    ::syscall(SYS_close_range, WorkerProcess::kProgressFd + 1, ~0U, CLOSE_RANGE_CLOEXEC);
    ::execve(plan.command[0], plan.command, plan.environment);
  }
  const int error = errno;
  [[maybe_unused]] const ssize_t written = ::write(plan.exec_error, &error, sizeof error);
  ::_exit(127);
}

/// 0 if exec worked, else its errno.
int exec_error_of(const FileDescriptor& pipe) {
  int error = 0;
  ssize_t got = 0;
  do {
    got = ::read(pipe.get(), &error, sizeof error);
  } while (got < 0 && errno == EINTR);
  return got == sizeof error ? error : 0;
}

Error cannot_start(const std::string& program, int error) {
  return usage_error(
      fmt::format("cannot start the worker {}: {}; build it (target flopmark-worker), or name another in the "
                  "environment variable FLOPMARK_WORKER",
                  program, std::strerror(error)));
}

}  // namespace

WorkerProcess::WorkerProcess(const std::vector<std::string>& command, const AddedVariables& variables) {
  PipeEnds control = make_pipe();
  PipeEnds log = make_pipe();
  PipeEnds progress = make_pipe();
  PipeEnds exec_error = make_pipe();
  for (const FileDescriptor* fd : {&control.write, &log.read, &progress.read}) set_nonblocking(*fd);
  const std::vector<std::string> entries = process_environment(variables);
  const std::vector<char*> arguments = exec_pointers(command), environment = exec_pointers(entries);

  const ChildPlan plan{::getpid(),           control.read.get(),     log.write.get(),
                       progress.write.get(), exec_error.write.get(), arguments.data(),
                       environment.data()};
  pid_ = fork_child(become_worker, plan);
  if (pid_ < 0) throw cannot_start(command[0], errno);
  ::setpgid(pid_, pid_);  // in both, so that the group exists whichever runs first
  exec_error.write.close();
  if (const int error = exec_error_of(exec_error.read); error != 0) {
    finish();
    throw cannot_start(command[0], error);
  }
  control_ = std::move(control.write);
  log_ = std::move(log.read);
  progress_ = std::move(progress.read);
  end_ = FileDescriptor(static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0)));
}

WorkerProcess::~WorkerProcess() {
  finish();
}

bool WorkerProcess::ended() const {
  siginfo_t info{};
  const int result = ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT);
  return result != 0 ? errno == ECHILD : info.si_pid == pid_;
}

bool WorkerProcess::send(const std::string& line) {
  return ::write(control_.get(), line.data(), line.size()) == static_cast<ssize_t>(line.size());
}

ExitStatus WorkerProcess::finish() {
  if (finished_) return status_;
  finished_ = true;
  ::kill(-pid_, SIGKILL);
  const auto give_up = std::chrono::steady_clock::now() + kKillWait;
  int raw = 0;
  pid_t got = 0;
  while ((got = ::waitpid(pid_, &raw, WNOHANG)) == 0 && std::chrono::steady_clock::now() < give_up) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  status_.reaped = got == pid_;
  if (status_.reaped && WIFEXITED(raw)) status_.code = WEXITSTATUS(raw);
  if (status_.reaped && WIFSIGNALED(raw)) status_.signal = WTERMSIG(raw);
  control_.close();
  return status_;
}

}  // namespace flopmark
