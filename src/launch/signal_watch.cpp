#include "launch/signal_watch.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>

#include "flopmark/error.h"

namespace flopmark {
namespace {

// The handler has no other way to its pipe.
std::atomic<int> signal_pipe{-1};
static_assert(std::atomic<int>::is_always_lock_free);

void write_to_pipe(int signal) {
  const int saved = errno;
  const auto byte = static_cast<char>(signal);
  // A full pipe already holds more signals than anybody needs.
  [[maybe_unused]] const ssize_t written = ::write(signal_pipe.load(), &byte, 1);
  errno = saved;
}

}  // namespace

SignalWatch::SignalWatch() : pipe_(make_pipe()) {
  set_nonblocking(pipe_.read);
  set_nonblocking(pipe_.write);
  int none = -1;
  if (!signal_pipe.compare_exchange_strong(none, pipe_.write.get())) {
    throw Error(ExitCode::internal, "two launches at the same time in one process: please report this");
  }
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) install(signal, write_to_pipe);
  install(SIGPIPE, SIG_IGN);
  install(SIGCHLD, SIG_DFL);
}

SignalWatch::~SignalWatch() {
  for (const auto& [signal, action] : before_) ::sigaction(signal, &action, nullptr);
  signal_pipe.store(-1);
}

void SignalWatch::install(int signal, void (*handler)(int)) {
  struct sigaction before {};
  ::sigaction(signal, nullptr, &before);
  const bool ignored = (before.sa_flags & SA_SIGINFO) == 0 && before.sa_handler == SIG_IGN;
  if (ignored && handler == write_to_pipe) return;
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  ::sigaction(signal, &action, nullptr);
  before_.emplace_back(signal, before);
}

std::vector<int> SignalWatch::take() {
  std::vector<int> signals;
  for (const char byte : read_available(pipe_.read, 4096).bytes) signals.push_back(byte);
  return signals;
}

std::string signal_name(int signal) {
  struct Name {
    int signal;
    const char* name;
  };
  static constexpr std::array<Name, 16> kNames = {{{SIGHUP, "SIGHUP"},
                                                   {SIGINT, "SIGINT"},
                                                   {SIGQUIT, "SIGQUIT"},
                                                   {SIGILL, "SIGILL"},
                                                   {SIGTRAP, "SIGTRAP"},
                                                   {SIGABRT, "SIGABRT"},
                                                   {SIGBUS, "SIGBUS"},
                                                   {SIGFPE, "SIGFPE"},
                                                   {SIGKILL, "SIGKILL"},
                                                   {SIGUSR1, "SIGUSR1"},
                                                   {SIGSEGV, "SIGSEGV"},
                                                   {SIGPIPE, "SIGPIPE"},
                                                   {SIGALRM, "SIGALRM"},
                                                   {SIGTERM, "SIGTERM"},
                                                   {SIGXCPU, "SIGXCPU"},
                                                   {SIGSYS, "SIGSYS"}}};
  for (const Name& known : kNames) {
    if (known.signal == signal) return known.name;
  }
  return fmt::format("signal {}", signal);
}

}  // namespace flopmark
