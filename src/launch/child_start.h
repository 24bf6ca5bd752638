#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

namespace flopmark {

/// All signals at their defaults and none blocked, as a program expects them. Async-signal-safe.
void restore_signals() noexcept;

/// Forks with all signals blocked, so that no handler of ours runs in the child. The child runs
/// `become(plan)`, which makes async-signal-safe calls only, calls restore_signals() and does not return: it
/// execs or ends. Returns the child's number, or -1 with errno.
template <typename Plan>
pid_t fork_child(void (*become)(const Plan&) noexcept, const Plan& plan) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t pid = ::fork();
  if (pid == 0) become(plan);
  const int error = errno;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = error;
  return pid;
}

}  // namespace flopmark
