#include <gmock/gmock.h>

#include "launch_fixture.h"

namespace flopmark {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;

class FindWorker : public LaunchTest {
 protected:
  void SetUp() override {
    LaunchTest::SetUp();
    ::unsetenv("FLOPMARK_WORKER");
  }
  void TearDown() override {
    ::unsetenv("FLOPMARK_WORKER");
    LaunchTest::TearDown();
  }
  std::filesystem::path script(const std::string& body) {
    const auto file = scratch_ / "script";
    std::ofstream(file) << "#!/bin/sh\n" << body << '\n';
    std::filesystem::permissions(file, std::filesystem::perms::owner_all);
    return file;
  }
};

template <typename Call>
std::string error_of(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return error.what();
  }
  ADD_FAILURE() << "no error";
  return "";
}

TEST_F(FindWorker, GivenComesBeforeTheEnvironment) {
  const auto given = script("exit 0");
  ::setenv("FLOPMARK_WORKER", FLOPMARK_FAKE_WORKER, 1);
  EXPECT_EQ(find_worker(given), given);
  EXPECT_EQ(find_worker(""), std::filesystem::path(FLOPMARK_FAKE_WORKER));
}

TEST_F(FindWorker, NamesWhatIsWrongWithTheNamedOne) {
  EXPECT_THAT(error_of([&] { find_worker(scratch_ / "none"); }),
              HasSubstr("none (as given) does not exist; build it"));
  EXPECT_THAT(error_of([&] { find_worker(scratch_); }), HasSubstr("(as given) is not a file"));
  std::ofstream(scratch_ / "text") << "x";
  ::setenv("FLOPMARK_WORKER", (scratch_ / "text").c_str(), 1);
  if (::geteuid() != 0 || ::access((scratch_ / "text").c_str(), X_OK) != 0) {
    EXPECT_THAT(error_of([&] { find_worker(""); }),
                HasSubstr("text (from FLOPMARK_WORKER) may not be executed"));
  }
}

TEST_F(FindWorker, LooksBesideThisProgram) {
  const auto beside = std::filesystem::read_symlink("/proc/self/exe").parent_path() / "flopmark-worker";
  if (std::filesystem::exists(beside)) {
    EXPECT_EQ(find_worker(""), beside);
  } else {
    EXPECT_THAT(error_of([] { find_worker(""); }),
                HasSubstr("FLOPMARK_WORKER is not set, and " + beside.string() + " does not exist"));
  }
}

TEST_F(FindWorker, AsksForTheVersion) {
  const WorkerVersion version = ask_worker_version(FLOPMARK_FAKE_WORKER);
  EXPECT_EQ(version.protocol, "flopmark.worker/1");
  EXPECT_EQ(version.libtorch, "2.15.0");
  EXPECT_EQ(version.cuda, "");
  expect_nothing_left();
}

TEST_F(FindWorker, AsksForTheEnvironmentOfADevice) {
  const Environment environment = ask_worker_environment(FLOPMARK_FAKE_WORKER, "cuda:1");
  EXPECT_EQ(environment.device_name, "Fake CPU");
  EXPECT_EQ(environment.libtorch, "2.15.0");
  EXPECT_EQ(environment.variables.at("FAKE_DEVICE"), "cuda:1");
  EXPECT_THAT(
      error_of([&] { ask_worker_environment(script("echo 'no such device: '$3 >&2; exit 200"), "cuda:9"); }),
      AllOf(HasSubstr("does not say its environment: `script --environment` ended with exit code 200"),
            EndsWith("\n  no such device: cuda:9")));
  EXPECT_THAT(error_of([&] { ask_worker_environment(script("echo '{\"device_count\":-1}'"), "cpu"); }),
              HasSubstr("printed no environment line"));
  expect_nothing_left();
}

TEST_F(FindWorker, SaysWhyThereIsNoVersion) {
  EXPECT_THAT(error_of([&] { ask_worker_version(script("echo no torch here >&2; exit 3")); }),
              AllOf(HasSubstr("does not say its version: `script --version` ended with exit code 3"),
                    EndsWith("\n  no torch here")));
  EXPECT_THAT(error_of([&] { ask_worker_version(script("echo 2.15.0")); }),
              HasSubstr("printed no version line"));
  EXPECT_THAT(error_of([&] { ask_worker_version(script("kill -ABRT $$")); }), HasSubstr("ended by SIGABRT"));
  EXPECT_THAT(error_of([&] { ask_worker_version(script("exec yes")); }),
              HasSubstr("wrote far more than an answer"));
  EXPECT_THAT(
      error_of([&] { ask_worker_version(script("exec sleep 1000"), std::chrono::milliseconds(300)); }),
      HasSubstr("did not answer within 0.3 s"));
  EXPECT_TRUE(has_no_children());
}

}  // namespace
}  // namespace flopmark
