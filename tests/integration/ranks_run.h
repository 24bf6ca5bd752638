#pragma once

#include <gmock/gmock.h>

#include <algorithm>
#include <csignal>
#include <functional>
#include <iterator>
#include <optional>
#include <set>

#include "integration/tiny_run.h"

namespace flopmark::testing {

/// Runs of several CPU ranks with the real worker, in a folder of their own, in which no process is left.
class RanksRun : public TinyRun {
 protected:
  void SetUp() override {
    TinyRun::SetUp();
    std::filesystem::create_directories(folder_ / "scratch");
  }
  void TearDown() override {
    EXPECT_TRUE(holds_soon([this] { return workers().empty(); })) << "a worker is left";
    for (const auto& [pid, rank] : workers()) ::kill(pid, SIGKILL);
    TinyRun::TearDown();
  }

  /// `flopmark run` with `ranks` of this machine; --set may follow.
  ProgramOptions job(int ranks, const std::vector<std::string>& more = {},
                     const std::map<std::string, std::string>& environment = {}) const {
    std::vector<std::string> arguments{"--set", "parallel.ranks=" + std::to_string(ranks), "--set",
                                       "parallel.timeout_s=10"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return placed(arguments, environment);
  }
  ProgramOptions placed(const std::vector<std::string>& more,
                        const std::map<std::string, std::string>& environment = {}) const {
    ProgramOptions options = command(more, environment);
    options.environment.emplace("TMPDIR", (folder_ / "scratch").string());
    return options;
  }
  static std::vector<std::string> with_fault(std::vector<std::string> more) {
    more.insert(more.end(), {"--worker", FLOPMARK_FAULTY_WORKER});
    return more;
  }

  /// Numbers and ranks of the workers that measure for this test, told by the scratch folder they are given.
  std::map<pid_t, int> workers() const {
    std::map<pid_t, int> found;
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator("/proc", ignored)) {
      const std::string name = entry.path().filename();
      if (name.find_first_not_of("0123456789") != std::string::npos) continue;
      const std::vector<std::string> words = command_line(entry.path() / "cmdline");
      const auto rank = std::find(words.begin(), words.end(), "--rank");
      const bool is_mine = std::any_of(words.begin(), words.end(), [this](const std::string& word) {
        return word.starts_with((folder_ / "scratch").string());
      });
      if (is_mine && rank != words.end() && std::next(rank) != words.end()) {
        found[std::stoi(name)] = std::stoi(*std::next(rank));
      }
    }
    return found;
  }
  std::optional<pid_t> worker_of(int rank) const {
    for (const auto& [pid, its] : workers()) {
      if (its == rank) return pid;
    }
    return std::nullopt;
  }

  static bool holds_soon(const std::function<bool()>& condition) {
    for (int tries = 0; tries < 600; ++tries) {
      if (condition()) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    return false;
  }

 private:
  static std::vector<std::string> command_line(const std::filesystem::path& file) {
    std::vector<std::string> words;
    std::ifstream in(file);
    for (std::string word; std::getline(in, word, '\0');) words.push_back(word);
    return words;
  }
};

}  // namespace flopmark::testing
