#pragma once

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace flopmark::testing {

/// How a program is started. Standard input is empty; output is captured unless sent to `stdout_file`.
struct ProgramOptions {
  std::vector<std::string> arguments;
  std::map<std::string, std::string> environment;  ///< on top of ours
  std::filesystem::path folder;                    ///< where it runs; empty = here
  std::string stdout_file;
  bool close_stdout = false;
};

/// How a program ended. `exit_code` is -1 when a signal ended it.
struct ProgramResult {
  int exit_code = -1;
  int signal = 0;
  std::string out, err;
};

/// A child process whose output is captured in files, so that no amount of it can block. Killed if still
/// running at the end of its scope.
class RunningProgram {
 public:
  RunningProgram(const std::filesystem::path& program, const ProgramOptions& options) {
    std::string name = (std::filesystem::temp_directory_path() / "run-program-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
    captured_ = name;
    pid_ = ::fork();
    if (pid_ < 0) throw std::runtime_error("fork failed");
    if (pid_ == 0) start(program, options);
  }
  ~RunningProgram() {
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
    }
    std::error_code ignored;
    std::filesystem::remove_all(captured_, ignored);
  }
  RunningProgram(const RunningProgram&) = delete;
  RunningProgram& operator=(const RunningProgram&) = delete;

  pid_t pid() const { return pid_; }
  std::string error_so_far() const { return read(captured_ / "err"); }

  /// Whether standard error contained `text` before 30 s were over or the program had ended.
  bool wait_for_error_text(const std::string& text) const {
    for (int tries = 0; tries < 3000; ++tries) {
      if (error_so_far().find(text) != std::string::npos) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
  }

  ProgramResult wait() {
    int status = 0;
    if (::waitpid(std::exchange(pid_, -1), &status, 0) < 0) throw std::runtime_error("waitpid failed");
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, WIFSIGNALED(status) ? WTERMSIG(status) : 0,
            read(captured_ / "out"), read(captured_ / "err")};
  }

 private:
  static std::string read(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
  }

  static void redirect(int descriptor, const std::string& path, int flags) {
    const int file = ::open(path.c_str(), flags, 0600);
    if (file < 0 || ::dup2(file, descriptor) < 0) ::_exit(126);
    if (file != descriptor) ::close(file);
  }

  [[noreturn]] void start(const std::filesystem::path& program, const ProgramOptions& options) const {
    redirect(0, "/dev/null", O_RDONLY);
    redirect(1, options.stdout_file.empty() ? (captured_ / "out").string() : options.stdout_file,
             O_WRONLY | O_CREAT | O_APPEND);
    redirect(2, captured_ / "err", O_WRONLY | O_CREAT | O_APPEND);
    if (options.close_stdout) ::close(1);
    if (!options.folder.empty() && ::chdir(options.folder.c_str()) != 0) ::_exit(126);
    for (const auto& [name, value] : options.environment) ::setenv(name.c_str(), value.c_str(), 1);
    const std::string path = program.string();
    std::vector<char*> words{const_cast<char*>(path.c_str())};
    for (const std::string& argument : options.arguments)
      words.push_back(const_cast<char*>(argument.c_str()));
    words.push_back(nullptr);
    ::execvp(path.c_str(), words.data());
    ::_exit(127);
  }

  std::filesystem::path captured_;
  pid_t pid_ = -1;
};

/// Starts a program and waits for its end.
inline ProgramResult run_program(const std::filesystem::path& program, const ProgramOptions& options) {
  return RunningProgram(program, options).wait();
}

}  // namespace flopmark::testing
