#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "config/run_config.h"
#include "flopmark/error.h"

namespace flopmark {

/// A folder of its own for one test, removed afterwards.
class ConfigFiles {
 public:
  ConfigFiles() {
    std::string name = testing::TempDir() + "flopmark-config-XXXXXX";
    folder_ = mkdtemp(name.data());
  }
  ~ConfigFiles() {
    std::error_code error;
    std::filesystem::remove_all(folder_, error);
  }
  ConfigFiles(const ConfigFiles&) = delete;
  ConfigFiles& operator=(const ConfigFiles&) = delete;

  std::filesystem::path path(const std::string& name) const { return folder_ / name; }

  std::filesystem::path write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories(path(name).parent_path());
    // A new file instead of a rewritten one: some file systems flush rewritten files to the disk at once.
    std::filesystem::remove(path(name));
    std::ofstream(path(name), std::ios::binary) << text;
    return path(name);
  }

 private:
  std::filesystem::path folder_;
};

/// Open and access checks do not bind root, so it acts as another user while this lives.
class Unprivileged {
 public:
  Unprivileged() : was_root_(geteuid() == 0) {
    if (was_root_ && seteuid(65534) != 0) ADD_FAILURE() << "cannot become another user";
  }
  ~Unprivileged() {
    if (was_root_ && seteuid(0) != 0) ADD_FAILURE() << "cannot become root again";
  }
  Unprivileged(const Unprivileged&) = delete;
  Unprivileged& operator=(const Unprivileged&) = delete;

 private:
  bool was_root_;
};

/// What `call` says when it refuses with the code given; fails the test for any other outcome.
template <typename Call>
std::string refusal(Call call, ExitCode code = ExitCode::usage) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    return error.what();
  } catch (const std::exception& error) {
    ADD_FAILURE() << "not an Error: " << error.what();
    return "";
  }
  ADD_FAILURE() << "not refused";
  return "";
}

/// Loads `text` as the file run.json of a folder of its own.
inline RunConfig load_text(const std::string& text, const std::vector<std::string>& sets = {}) {
  const ConfigFiles files;
  return load_config(files.write("run.json", text), sets);
}

/// The refusal of `text`, its place shortened to "run.json".
inline std::string refused_text(const std::string& text, const std::vector<std::string>& sets = {}) {
  const std::string message = refusal([&] { load_text(text, sets); });
  const size_t name = message.find("run.json");
  return message.rfind('/', 0) == 0 && name != std::string::npos ? message.substr(name) : message;
}

}  // namespace flopmark
