#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace flopmark {

/// A folder of a test's own, removed afterwards.
class ScratchFolder {
 public:
  ScratchFolder() {
    static int count = 0;
    root_ = std::filesystem::canonical(testing::TempDir()) /
            ("flopmark-results-" + std::to_string(getpid()) + "-" + std::to_string(++count));
    std::filesystem::create_directories(root_);
  }
  ~ScratchFolder() {
    std::error_code error;
    std::filesystem::remove_all(root_, error);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const std::filesystem::path& root() const { return root_; }

  /// Writes a file under the folder, making what it lies in.
  std::filesystem::path write(const std::filesystem::path& file, const std::string& text) const {
    const auto path = root_ / file;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }

 private:
  std::filesystem::path root_;
};

inline std::string file_text(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// Runs the git program in `folder`; true if it succeeds. Reads no configuration but the repository's.
inline bool git(const std::filesystem::path& folder, const std::string& arguments) {
  const std::string command =
      "GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 git -C '" + folder.string() +
      "' -c user.name=Tester -c user.email=tester@example.org -c commit.gpgsign=false " + arguments +
      " >/dev/null 2>&1";
  return std::system(command.c_str()) == 0;
}

/// A folder that is a Git tree with one commit: the file "code.txt", and results/ ignored.
class ScratchTree : public ScratchFolder {
 public:
  ScratchTree() {
    EXPECT_TRUE(git(root(), "init -q -b main"));
    write("code.txt", "first\n");
    write(".gitignore", "/results/\n*.log\n");
    commit("first");
  }
  void commit(const std::string& subject) const {
    EXPECT_TRUE(git(root(), "add -A"));
    EXPECT_TRUE(git(root(), "commit -q -m '" + subject + "'"));
  }
};

}  // namespace flopmark
