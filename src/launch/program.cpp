#include "launch/program.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <thread>

#include "flopmark/error.h"
#include "launch/child_start.h"
#include "launch/file_descriptor.h"
#include "launch/process_environment.h"

namespace flopmark {
namespace {

constexpr auto kPollInterval = std::chrono::milliseconds(20);

struct ProgramStart {
  char* const* command;
  char* const* environment;
  const char* folder;
  int input, log, error_log;
  pid_t parent;
};

/// The child from fork to exec: nothing that allocates or locks. All signals are blocked when it starts.
[[noreturn]] void become_program(const ProgramStart& start) noexcept {
  ::setsid();
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != start.parent) ::_exit(127);
  restore_signals();
  const bool placed = ::dup2(start.input, STDIN_FILENO) >= 0 && ::dup2(start.log, STDOUT_FILENO) >= 0 &&
                      ::dup2(start.error_log, STDERR_FILENO) >= 0 && ::chdir(start.folder) == 0;
  if (placed) ::execvpe(start.command[0], start.command, start.environment);
  const char* why = std::strerror(errno);
  for (const char* text : {"cannot be started: ", why, "\n"}) {
    [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text, std::strlen(text));
  }
  ::_exit(127);
}

ProgramEnd wait_for(pid_t pid, const Program& program) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point begun = Clock::now();
  ProgramEnd end;
  siginfo_t info{};  // reaped only after its group is killed: until then the number is nobody else's
  while (::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         info.si_pid == 0) {
    end.interrupted = end.interrupted || (program.interrupted && program.interrupted());
    const std::chrono::duration<double> lasted = Clock::now() - begun;
    end.timed_out = program.timeout_s && lasted.count() > *program.timeout_s;
    if (end.interrupted || end.timed_out) ::kill(-pid, SIGKILL);
    std::this_thread::sleep_for(kPollInterval);
  }
  ::kill(-pid, SIGKILL);  // whatever it left running
  int raw = 0;
  if (::waitpid(pid, &raw, 0) != pid) throw Error(ExitCode::internal, "how a program ended cannot be learnt");
  if (WIFEXITED(raw)) end.code = WEXITSTATUS(raw);
  if (WIFSIGNALED(raw)) end.signal = WTERMSIG(raw);
  return end;
}

FileDescriptor open_log(const std::filesystem::path& file) {
  FileDescriptor log(::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
  if (!log)
    throw usage_error(fmt::format("cannot write the log {}: {}", file.string(), std::strerror(errno)));
  return log;
}

}  // namespace

ProgramEnd run_program(const Program& program) {
  const FileDescriptor input(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const FileDescriptor log = open_log(program.log);
  const FileDescriptor error_log = program.error_log.empty() ? FileDescriptor() : open_log(program.error_log);
  const std::vector<std::string> variables = process_environment(program.set, program.unset);
  const std::vector<char*> command = exec_pointers(program.command), environment = exec_pointers(variables);
  const std::string folder = program.folder.string();
  const ProgramStart start{command.data(), environment.data(), folder.c_str(),
                           input.get(),    log.get(),          (error_log ? error_log : log).get(),
                           ::getpid()};
  const pid_t pid = fork_child(become_program, start);
  if (pid < 0) {
    throw usage_error(fmt::format("cannot start {}: {}", program.command[0], std::strerror(errno)));
  }
  return wait_for(pid, program);
}

}  // namespace flopmark
