// What torchrun does for a program, without Python: keeps the store that its ranks meet in, starts N of them
// on this host with its variables, and ends the others when one ends badly. With SMALL_TORCHRUN_RESTARTS=R it
// then starts them anew, up to R times, without the fault that FLOPMARK_FAULT names.
//   small-torchrun N PROGRAM [ARGUMENT...]
#include <sys/wait.h>
#include <unistd.h>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include <csignal>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

namespace {

void set(const char* name, const std::string& value) {
  ::setenv(name, value.c_str(), 1);
}

pid_t start(int rank, int ranks, char** program) {
  const pid_t pid = ::fork();
  if (pid != 0) return pid;
  for (const char* name : {"RANK", "LOCAL_RANK"}) set(name, std::to_string(rank));
  for (const char* name : {"WORLD_SIZE", "LOCAL_WORLD_SIZE"}) set(name, std::to_string(ranks));
  ::execvp(program[0], program);
  ::_exit(127);
}

int code_of(int status) {
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/// Once all have ended. @returns the first bad code, or 0.
int run_ranks(int ranks, char** program) {
  std::vector<pid_t> children;
  for (int rank = 0; rank < ranks; ++rank) children.push_back(start(rank, ranks, program));
  int first_code = 0;
  for (int left = ranks; left > 0; --left) {
    int status = 0;
    const pid_t ended = ::wait(&status);
    for (pid_t& child : children) child = child == ended ? -1 : child;
    if (first_code != 0 || code_of(status) == 0) continue;
    first_code = code_of(status);
    for (const pid_t child : children) {
      if (child > 0) ::kill(child, SIGTERM);
    }
  }
  return first_code;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  c10d::TCPStoreOptions options;
  options.port = 0;
  options.isServer = true;
  options.waitWorkers = false;
  c10d::TCPStore store("127.0.0.1", options);
  set("MASTER_ADDR", "127.0.0.1");
  set("MASTER_PORT", std::to_string(store.getPort()));
  set("TORCHELASTIC_RUN_ID", "none");
  set("TORCHELASTIC_USE_AGENT_STORE", "True");
  set("OMP_NUM_THREADS", "1");
  const char* most = std::getenv("SMALL_TORCHRUN_RESTARTS");
  const int restarts = most == nullptr ? 0 : std::stoi(most);
  for (int restart = 0;; ++restart) {
    set("TORCHELASTIC_RESTART_COUNT", std::to_string(restart));
    const int code = run_ranks(std::stoi(argv[1]), argv + 2);
    if (code == 0 || restart >= restarts) return code;
    ::unsetenv("FLOPMARK_FAULT");
  }
}
