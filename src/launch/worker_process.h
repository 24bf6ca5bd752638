#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "launch/file_descriptor.h"

namespace flopmark {

/// How a process ended; both 0 after a clean exit.
struct ExitStatus {
  int code = 0;        ///< exit code
  int signal = 0;      ///< the signal that ended it, 0 if none did
  bool reaped = true;  ///< false: it did not even end when killed (stuck in the kernel)
};

/// Variables added to a program's environment, in place of those of this process with the same name.
using AddedVariables = std::vector<std::pair<std::string, std::string>>;

/// A program in a process group of its own, tied to this process: it dies when the thread that made it does,
/// and the destructor kills the whole group and leaves no zombie.
class WorkerProcess {
 public:
  static constexpr int kProgressFd = 3;  ///< where the program finds its progress pipe

  /// Starts `command` (path and arguments): standard input is the control pipe, standard output and error the
  /// log pipe, descriptor 3 the progress pipe; no other descriptor is inherited, all signals are at their
  /// defaults.
  /// @throws Error 200 if it cannot be started.
  explicit WorkerProcess(const std::vector<std::string>& command, const AddedVariables& variables = {});
  ~WorkerProcess();
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  pid_t pid() const { return pid_; }
  /// Readable once the program has ended; none on kernels before 5.3 and where it is forbidden.
  const FileDescriptor& end() const { return end_; }
  FileDescriptor& progress() { return progress_; }  ///< nonblocking
  FileDescriptor& log() { return log_; }            ///< nonblocking

  /// Whether the program has ended (its children may live on). It stays a zombie, so that its number, which
  /// is also the group's, cannot pass to a stranger before finish().
  bool ended() const;
  /// Writes to the control pipe; false if nobody reads it.
  bool send(const std::string& line);
  /// Kills whatever is left of the group, reaps the program and says how it ended. Waits for a killed program
  /// for at most `kKillWait`. Later calls repeat the first answer.
  ExitStatus finish();

  static constexpr std::chrono::seconds kKillWait{10};

 private:
  pid_t pid_ = -1;
  bool finished_ = false;
  ExitStatus status_;
  FileDescriptor control_, progress_, log_, end_;
};

}  // namespace flopmark
