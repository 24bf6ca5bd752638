#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "fakes/example_samples.h"
#include "flopmark/error.h"
#include "measure/samples.h"

namespace flopmark {
namespace {

namespace fs = std::filesystem;

/// A folder of the test's own, removed at its end.
class SamplesFile : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) / testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  fs::path folder_;
};

ExitCode code_of(const std::function<void()>& action, std::string& text) {
  try {
    action();
  } catch (const Error& error) {
    text = error.what();
    return error.code();
  }
  return ExitCode::ok;
}

TEST_F(SamplesFile, IsReadBackAsWritten) {
  const fs::path path = folder_ / "samples.json";
  write_samples(example_samples(), path);
  EXPECT_EQ(to_json(read_samples(path)), to_json(example_samples()));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 1)
      << "temporary file left";
}

TEST_F(SamplesFile, ReplacesAnOlderOneWhole) {
  const fs::path path = folder_ / "samples.json";
  std::ofstream(path) << std::string(100'000, 'x');
  std::ofstream(folder_ / "samples.json.partial") << "left by a crash";
  write_samples(LaunchSamples(), path);
  EXPECT_EQ(read_samples(path).status, "ok");
}

TEST_F(SamplesFile, AFailureWithBytesThatAreNotTextIsStillWritten) {
  LaunchSamples samples;
  samples.failure = Failure{"error", "load", std::nullopt, "bad \xff byte"};
  write_samples(samples, folder_ / "samples.json");
  EXPECT_EQ(read_samples(folder_ / "samples.json").failure->text, "bad \xEF\xBF\xBD byte");
}

TEST_F(SamplesFile, AFolderThatIsMissingCannotBeWrittenTo) {
  std::string text;
  EXPECT_EQ(code_of([&] { write_samples({}, folder_ / "none" / "samples.json"); }, text),
            ExitCode::cannot_judge);
  EXPECT_THAT(text, testing::HasSubstr("none/samples.json: No such file or directory"));
}

TEST_F(SamplesFile, AnObstacleIsNamedAndNothingIsLeft) {
  fs::create_directories(folder_ / "samples.json" / "occupied");
  std::string text;
  EXPECT_EQ(code_of([&] { write_samples({}, folder_ / "samples.json"); }, text), ExitCode::cannot_judge);
  EXPECT_THAT(text, testing::HasSubstr("cannot write the samples"));
  EXPECT_FALSE(fs::exists(folder_ / "samples.json.partial"));
}

TEST_F(SamplesFile, ReadingWhatIsNotOneIsOurFault) {
  std::string text;
  EXPECT_EQ(code_of([&] { read_samples(folder_ / "none.json"); }, text), ExitCode::internal);
  EXPECT_THAT(text, testing::HasSubstr("there is no such file"));
  std::ofstream(folder_ / "cut.json") << to_json(example_samples()).dump().substr(0, 300);
  EXPECT_EQ(code_of([&] { read_samples(folder_ / "cut.json"); }, text), ExitCode::internal);
  EXPECT_THAT(text, testing::HasSubstr("that the worker left: line 1, column "));
  std::ofstream(folder_ / "other.json") << "{\"schema\": \"flopmark.record/1\"}";
  EXPECT_EQ(code_of([&] { read_samples(folder_ / "other.json"); }, text), ExitCode::internal);
  EXPECT_THAT(text, testing::HasSubstr("flopmark.record/1"));
}

}  // namespace
}  // namespace flopmark
