#pragma once

#include <csignal>
#include <utility>
#include <vector>

#include "launch/file_descriptor.h"

namespace flopmark {

/// While alive, SIGINT, SIGTERM, SIGHUP and SIGQUIT do not end this process but can be read from a
/// descriptor, writing to a closed pipe is an error instead of a signal, and ended children stay until they
/// are reaped. A signal that was ignored before (nohup) stays ignored. The destructor puts all handlers back.
/// One at a time in a process; handlers and not a signalfd, because a signalfd needs the signals blocked in
/// every thread.
class SignalWatch {
 public:
  SignalWatch();
  ~SignalWatch();
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;

  /// Readable when a signal has come.
  int fd() const { return pipe_.read.get(); }
  /// The signals since the last call, in order. Does not wait.
  std::vector<int> take();

 private:
  void install(int signal, void (*handler)(int));

  PipeEnds pipe_;
  std::vector<std::pair<int, struct sigaction>> before_;
};

/// "SIGSEGV"; "signal 64" where there is no name.
std::string signal_name(int signal);

}  // namespace flopmark
