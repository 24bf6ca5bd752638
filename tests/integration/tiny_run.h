#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "fakes/run_program.h"

namespace flopmark::testing {

/// A folder of its own with a config of the tiny LLaMA, and runs of `flopmark` on it.
class TinyRun : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = ::testing::TempDir() + "tiny-run-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
    std::ofstream(folder_ / "tiny.json") << R"({
      "model": { "preset": "llama-tiny" }, "device": "cpu",
      "data": { "type": "synthetic", "batch_size": 2, "sequence_length": 32 },
      "measure": { "warmup_max_steps": 12, "steps": 20, "repeats": 1, "threads": 1, "timeout_s": 120 } })";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  ProgramOptions command(const std::vector<std::string>& more,
                         const std::map<std::string, std::string>& environment = {}) const {
    ProgramOptions options;
    options.arguments = {"run",
                         (folder_ / "tiny.json").string(),
                         "--quiet",
                         "--store",
                         folder_.string(),
                         "--output",
                         record_file().string()};
    options.arguments.insert(options.arguments.end(), more.begin(), more.end());
    options.environment = environment;
    options.environment.emplace("XDG_CACHE_HOME", (folder_ / "cache").string());
    options.environment.emplace("FLOPMARK_DATA", (folder_ / "data").string());
    options.folder = folder_;
    return options;
  }
  ProgramResult run(const std::vector<std::string>& more = {}) const {
    return run_program(FLOPMARK_PROGRAM, command(more));
  }
  ProgramResult run_with_fault(const std::string& fault, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments{"--worker", FLOPMARK_FAULTY_WORKER};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_program(FLOPMARK_PROGRAM, command(arguments, {{"FLOPMARK_FAULT", fault}}));
  }

  std::filesystem::path record_file() const { return folder_ / "record.json"; }
  nlohmann::json record() const {
    std::ifstream in(record_file());
    return nlohmann::json::parse(in);
  }
  bool has_baselines() const { return std::filesystem::exists(folder_ / "baselines"); }

  std::filesystem::path folder_;
};

}  // namespace flopmark::testing
