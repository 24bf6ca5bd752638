#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "fakes/run_program.h"

namespace flopmark {

/// Runs the built flopmark with the fake worker in a folder of its own, which is also its home; checks after
/// each test that no scratch folder is left.
class CliTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::path(::testing::TempDir()) /
              ("flopmark-cli-" + std::string(test->name()) + "-" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder_ / "work");
    std::filesystem::create_directories(folder_ / "scratch");
    folder_ = std::filesystem::canonical(folder_);
    work_ = folder_ / "work";
    write("tiny.json", config());
  }
  void TearDown() override {
    EXPECT_TRUE(std::filesystem::is_empty(folder_ / "scratch")) << "scratch left";
    std::filesystem::remove_all(folder_);
  }

  /// Tiny LLaMA, 3 launches of 20 steps; the fake worker says 0.2 s for each.
  static std::string config() {
    return R"({"model": {"type": "llama", "preset": "llama-tiny"},
               "data": {"type": "synthetic", "batch_size": 2, "sequence_length": 32},
               "measure": {"steps": 20, "repeats": 3}})";
  }

  testing::ProgramOptions options(std::vector<std::string> arguments, const std::string& mode = "ok") const {
    testing::ProgramOptions options;
    options.arguments = std::move(arguments);
    options.folder = work_;
    options.environment = {{"FLOPMARK_WORKER", FLOPMARK_FAKE_WORKER},
                           {"FAKE_WORKER", mode},
                           {"TMPDIR", (folder_ / "scratch").string()},
                           {"HOME", folder_.string()},
                           {"FLOPMARK_DATA", (folder_ / "data").string()},
                           {"GIT_CONFIG_GLOBAL", "/dev/null"},
                           {"GIT_AUTHOR_NAME", "a"},
                           {"GIT_AUTHOR_EMAIL", "a@example.com"},
                           {"GIT_COMMITTER_NAME", "a"},
                           {"GIT_COMMITTER_EMAIL", "a@example.com"},
                           {"GIT_AUTHOR_DATE", "2026-01-02T03:04:05Z"},
                           {"GIT_COMMITTER_DATE", "2026-01-02T03:04:05Z"},
                           {"GIT_DEFAULT_HASH", "sha1"}};
    return options;
  }
  testing::ProgramResult flopmark(std::vector<std::string> arguments, const std::string& mode = "ok") const {
    return testing::run_program(FLOPMARK_PROGRAM, options(std::move(arguments), mode));
  }
  void git(std::vector<std::string> arguments) const {
    const auto result = testing::run_program("git", options(std::move(arguments)));
    ASSERT_EQ(result.exit_code, 0) << result.err;
  }
  /// A repository with the config committed on branch main: always the same commit.
  void make_repository() const {
    git({"init", "-q", "-b", "main"});
    git({"add", "tiny.json"});
    git({"commit", "-q", "-m", "config"});
  }

  void write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((work_ / name).parent_path());
    std::ofstream(work_ / name) << text;
  }
  std::string read(const std::filesystem::path& path) const {
    std::ifstream file(work_ / path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
  }
  nlohmann::json read_json(const std::filesystem::path& path) const {
    return nlohmann::json::parse(read(path));
  }

  /// Files below a folder of the work folder; none if there is no such folder.
  std::vector<std::filesystem::path> files(const std::string& folder) const {
    std::vector<std::filesystem::path> found;
    if (!std::filesystem::exists(work_ / folder)) return found;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(work_ / folder)) {
      if (entry.is_regular_file()) found.push_back(entry.path());
    }
    return found;
  }
  /// The baselines of the store, without its table.
  std::vector<std::filesystem::path> baselines() const {
    std::vector<std::filesystem::path> found = files("baselines");
    std::erase_if(found, [](const auto& file) { return file.extension() != ".json"; });
    return found;
  }
  /// The only record under results/.
  nlohmann::json only_record() const {
    const auto records = files("results");
    EXPECT_EQ(records.size(), 1u);
    return records.empty() ? nlohmann::json() : read_json(records.front());
  }

  std::filesystem::path folder_, work_;
};

}  // namespace flopmark
