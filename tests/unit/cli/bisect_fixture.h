#pragma once

#include <map>
#include <string>
#include <vector>

#include "unit/cli/cli_fixture.h"

namespace flopmark {

/// A repository whose "build" copies a worker that takes as long as the commit says. Commits are c0 (tagged
/// good), c1, ...; the fake worker makes its times up, so that no noise of the machine gets into a verdict.
class BisectCommandTest : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    write(".gitignore", "/made\n/bisect.json\n");
    git({"init", "-q", "-b", "main"});
    write("build.sh", "cp worker.sh made; chmod +x made\n");
    commit_step("0.2");
    git({"tag", "good"});
  }
  void commit() const {
    const std::string name = "c" + std::to_string(count_++);
    git({"add", "-A"});
    git({"commit", "-q", "--allow-empty", "-m", name});
  }
  void commit_step(const std::string& step_s, const std::string& more = "") const {
    write("worker.sh", "#!/bin/sh\n# " + std::to_string(count_) + "\n" + more + "FAKE_STEP_S=" + step_s +
                           " exec " FLOPMARK_FAKE_WORKER " \"$@\"\n");
    commit();
  }
  void commit_docs() const {
    write("readme.md", std::to_string(count_));
    commit();
  }
  void commit_unbuildable(const std::string& how = "echo no compiler >&2; exit 2\n") const {
    const std::string works = read("build.sh");
    write("build.sh", how);
    commit();
    write("build.sh", works);
  }
  /// 16 commits: slower from c10 on; c3 and c11 are documentation, c6 does not build, c8 crashes.
  void make_history() const {
    for (int i = 1; i < 16; ++i) {
      if (i == 3 || i == 11) {
        commit_docs();
      } else if (i == 6) {
        commit_unbuildable();
      } else {
        commit_step(i < 10 ? "0.2" : "0.3", i == 8 ? "export FAKE_TURNS=crash\n" : "");
      }
    }
  }

  static std::vector<std::string> arguments(const std::vector<std::string>& more = {}) {
    std::vector<std::string> words{"bisect",     "tiny.json", "--good",   "good",        "--bad",
                                   "main",       "--build",   kBuild,     "--seed",      "1",
                                   "--artifact", "made",      "--output", "bisect.json", "--force"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  testing::ProgramResult bisect(const std::vector<std::string>& more = {}) const {
    return flopmark(arguments(more));
  }
  nlohmann::json report() const { return read_json("bisect.json"); }
  std::string culprit() const { return report()["culprit"].is_null() ? "" : report()["culprit"]["subject"]; }
  std::string output_of(const std::vector<std::string>& words) const {
    return testing::run_program("git", options(words)).out;
  }
  /// Everything of the user's that a bisection must leave as it is.
  std::string state() const {
    return output_of({"status", "--porcelain=v2", "--branch", "--ignored"}) + output_of({"for-each-ref"}) +
           output_of({"worktree", "list"}) + output_of({"bisect", "log"}) + read(".git/config") +
           read(".git/index") + read("worker.sh");
  }
  /// Every tested commit by subject.
  std::map<std::string, nlohmann::json> tested() const {
    std::map<std::string, nlohmann::json> all;
    const nlohmann::json whole = report();
    for (const nlohmann::json& each : whole["tested"]) all[each["subject"]] = each;
    return all;
  }
  std::string error_of(const std::vector<std::string>& words) const {
    const auto result = flopmark(words);
    EXPECT_EQ(result.exit_code, 200) << result.err;
    EXPECT_EQ(result.out, "");
    return result.err;
  }

  static constexpr const char* kBuild = "echo x >> \"$HOME/builds\"; sh build.sh";
  mutable int count_ = 0;
};

}  // namespace flopmark
