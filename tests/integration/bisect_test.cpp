// A bisection with real workers: each commit's is compiled from the sources of that commit, and one makes
// every forward sleep 50 ms. The machine may be busy, so the slowdown is a large one.
#include <gmock/gmock.h>

#include "integration/tiny_run.h"

namespace flopmark::testing {
namespace {

using ::testing::HasSubstr;

class BisectTest : public TinyRun {
 protected:
  void SetUp() override {
    TinyRun::SetUp();
    write("worker.c", R"(#include <stdlib.h>
#include <unistd.h>
#include "fault.h"
int main(int argc, char** argv) {
  setenv("FLOPMARK_FAULT", FAULT, 1);
  execv(argc == 2 ? ")" FLOPMARK_REAL_WORKER R"(" : ")" FLOPMARK_FAULTY_WORKER R"(", argv);
  return 127;
}
)");
    write(".gitignore", "/made\n/*.json\n/cache/\n/data/\n");
    git({"init", "-q", "-b", "main"});
  }
  void write(const std::string& file, const std::string& text) const {
    std::ofstream(folder_ / file) << text;
  }
  ProgramResult git(const std::vector<std::string>& arguments) const {
    ProgramOptions options;
    options.arguments = arguments;
    options.folder = folder_;
    options.environment = {{"GIT_CONFIG_GLOBAL", "/dev/null"},
                           {"GIT_AUTHOR_NAME", "a"},
                           {"GIT_AUTHOR_EMAIL", "a@example.com"},
                           {"GIT_COMMITTER_NAME", "a"},
                           {"GIT_COMMITTER_EMAIL", "a@example.com"}};
    const ProgramResult result = run_program("git", options);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return result;
  }
  void commit(const std::string& subject, const std::string& fault) const {
    write("fault.h", "#define FAULT \"" + fault + "\"  // " + subject +
                         "\nstatic const char* const kBuild = \"" + subject +
                         "\";\nconst char* name(void);\nconst char* name(void) { return kBuild; }\n");
    git({"add", "-A"});
    git({"commit", "-q", "-m", subject});
  }
  ProgramResult bisect(const std::vector<std::string>& more) const {
    ProgramOptions options = command({});
    options.arguments = {"bisect",     "tiny.json",
                         "--good",     "good",
                         "--bad",      "main",
                         "--build",    "cc -o made worker.c",
                         "--artifact", "made",
                         "--output",   "bisect.json",
                         "--set",      "measure.steps=5",
                         "--set",      "measure.warmup_max_steps=3",
                         "--set",      "measure.warmup_min_steps=2"};
    options.arguments.insert(options.arguments.end(), more.begin(), more.end());
    return run_program(FLOPMARK_PROGRAM, options);
  }
};

TEST_F(BisectTest, FindsTheCommitThatSleeps) {
  commit("start", "none@timed:1");
  git({"tag", "good"});
  write("readme.md", "words");
  git({"add", "-A"});
  git({"commit", "-q", "-m", "words"});
  commit("crash", "crash@timed:2");
  commit("typo", "none@timed:1\"; \"");
  commit("tidy", "none@timed:1");
  commit("sleep", "sleep@timed:1");
  commit("more", "sleep@timed:1");
  const ProgramResult result = bisect({});
  EXPECT_EQ(result.exit_code, 0) << result.err << result.out;
  std::ifstream in(folder_ / "bisect.json");
  const auto report = nlohmann::json::parse(in);
  EXPECT_EQ(report["outcome"], "confirmed");
  EXPECT_EQ(report["culprit"]["subject"], "sleep");
  EXPECT_GT(report["change"]["limit_low_ratio"].get<double>(), 0.5);
  EXPECT_EQ(report["confirmation"][0]["phases"]["forward"]["changed"], true);
  EXPECT_THAT(report["environment"]["libtorch"].get<std::string>(), HasSubstr("."));
}

}  // namespace
}  // namespace flopmark::testing
