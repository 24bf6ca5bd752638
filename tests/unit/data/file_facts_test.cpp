#include "data/file_facts.h"

#include <gtest/gtest.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <numeric>

#include "flopmark/error.h"
#include "unit/data/temp_folder.h"

namespace flopmark {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

constexpr int64_t kBigBytes = int64_t{2} << 20;

/// Bytes 0, 1, ... 255, again and again.
std::string counting_bytes() {
  std::string bytes(kBigBytes, '\0');
  std::iota(bytes.begin(), bytes.end(), '\0');
  return bytes;
}

void make_old(const fs::path& path) {
  fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::hours(1));
}

TokenLayout layout_of(const MappedFile& file, const std::string& type = "text") {
  return type == "text" ? text_layout(file.bytes()) : token_layout(file.bytes(), "auto", file.path());
}

FileFacts facts_of(const std::string& path, const std::optional<fs::path>& cache,
                   const std::string& type = "text") {
  const MappedFile file(path);
  return file_facts(file, layout_of(file, type), cache);
}

std::vector<fs::path> entries(const fs::path& folder) {
  if (!fs::exists(folder)) return {};
  return {fs::directory_iterator(folder), fs::directory_iterator()};
}

/// Changes the hash in the only entry of `cache`: facts that carry it came from there.
void mark(const fs::path& cache) {
  json entry = json::parse(std::ifstream(entries(cache).at(0)));
  entry["hash"] = "00000000cafe0000";
  std::ofstream(entries(cache).at(0)) << entry;
}

TEST(FileFacts, ReadsTheWholeFile) {
  const TempFolder folder;
  const std::string bytes = counting_bytes();
  const FileFacts facts = facts_of(folder.file("a", bytes), std::nullopt);
  EXPECT_EQ(facts.max_id, 255);
  EXPECT_EQ(facts.hash, "6e626ca92741b7df");  // worked out with Python's integers
}

TEST(FileFacts, LeavesTheHeaderOutOfTheIdsButNotOfTheHash) {
  const TempFolder folder;
  const std::string ids = as_bytes(std::vector<uint16_t>{1, 7, 65000, 3});
  const FileFacts raw = facts_of(folder.file("raw", ids), std::nullopt, "tokens");
  const FileFacts llmc = facts_of(folder.file("llmc", llmc_header(4) + ids), std::nullopt, "tokens");
  EXPECT_EQ(raw.max_id, 65000);
  EXPECT_EQ(llmc.max_id, 65000);
  EXPECT_NE(raw.hash, llmc.hash);
  // The header's first word, 55432 as an id, is not among them.
  const std::string small = as_bytes(std::vector<uint16_t>{1, 7});
  EXPECT_EQ(facts_of(folder.file("small", llmc_header(2) + small), std::nullopt, "tokens").max_id, 7);
}

TEST(FileFacts, FindsTheFirstIdFromABound) {
  const TempFolder folder;
  std::vector<uint16_t> ids(5000, 3);
  ids[4000] = 301;
  ids[4321] = 40000;
  const MappedFile file(folder.file("ids", llmc_header(5000) + as_bytes(ids)));
  const TokenLayout layout = layout_of(file, "tokens");
  EXPECT_EQ(first_id_from(file, layout, 300), 4000);
  EXPECT_EQ(first_id_from(file, layout, 302), 4321);
  EXPECT_EQ(first_id_from(file, layout, 40001), std::nullopt);
  EXPECT_EQ(id_at(file, layout, 4000), 301);
}

TEST(FileFacts, AreReadFromTheCacheWhileTheFileIsTheSame) {
  const TempFolder folder;
  const fs::path cache = folder.path() / "new" / "cache";
  const std::string path = folder.file("a", counting_bytes());
  make_old(path);
  const FileFacts facts = facts_of(path, cache);
  EXPECT_EQ(entries(cache).size(), 1u);
  EXPECT_EQ(facts_of(path, cache), facts);
  mark(cache);
  EXPECT_EQ(facts_of(path, cache).hash, "00000000cafe0000");
  fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::hours(2));
  EXPECT_EQ(facts_of(path, cache).hash, facts.hash);
  mark(cache);
  EXPECT_EQ(facts_of(path, cache, "tokens").max_id, 0xfffe);  // bytes fe ff; not the entry of the text
}

TEST(FileFacts, AreNotCachedForSmallOrFreshFiles) {
  const TempFolder folder;
  const fs::path cache = folder.path() / "cache";
  const std::string small = folder.file("small", "abc");
  make_old(small);
  facts_of(small, cache);
  facts_of(folder.file("fresh", counting_bytes()), cache);
  EXPECT_TRUE(entries(cache).empty());
}

TEST(FileFacts, IgnoreACorruptEntry) {
  const TempFolder folder;
  const fs::path cache = folder.path() / "cache";
  const std::string path = folder.file("a", counting_bytes());
  make_old(path);
  const FileFacts facts = facts_of(path, cache);
  const fs::path entry = entries(cache).at(0);
  const json good = json::parse(std::ifstream(entry));
  std::vector<std::string> bad = {"", "{", "null", "[1,2]", "\x80\xff", std::string(100'000, '[')};
  for (const auto& [key, value] :
       std::initializer_list<std::pair<const char*, json>>{{"schema", 1},
                                                           {"key", json::array()},
                                                           {"max_id", -1},
                                                           {"max_id", "9"},
                                                           {"max_id", 70000},
                                                           {"max_id", 1.5},
                                                           {"hash", 5},
                                                           {"hash", "short"},
                                                           {"hash", "zzzzzzzzzzzzzzzz"}}) {
    json changed = good;
    changed[key] = value;
    bad.push_back(changed.dump());
    changed.erase(key);
    bad.push_back(changed.dump());
  }
  for (const std::string& text : bad) {
    std::ofstream(entry) << text;
    EXPECT_EQ(facts_of(path, cache), facts) << text.substr(0, 300);
    EXPECT_EQ(json::parse(std::ifstream(entry)), good);  // made anew
  }
}

TEST(FileFacts, DoWithoutACacheThatCannotBeWritten) {
  const TempFolder folder;
  const std::string path = folder.file("a", counting_bytes());
  make_old(path);
  const fs::path not_a_folder = folder.file("cache", "in the way");
  EXPECT_EQ(facts_of(path, not_a_folder).max_id, 255);
  EXPECT_EQ(facts_of(path, not_a_folder / "below").max_id, 255);
  EXPECT_EQ(facts_of(path, std::nullopt).max_id, 255);
}

TEST(FileFacts, RefuseAFileThatChanges) {
  const TempFolder folder;
  const MappedFile file(folder.file("a", counting_bytes()));
  fs::resize_file(file.path(), 10);
  EXPECT_THROW(file_facts(file, layout_of(file), std::nullopt), Error);
  EXPECT_THROW(first_id_from(file, layout_of(file), 1), Error);
}

/// Sets an environment variable, and puts the former value back.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    if (const char* before = getenv(name)) before_ = before;
    if (value) {
      setenv(name, value, 1);
    } else {
      unsetenv(name);
    }
  }
  ~Variable() {
    if (before_) {
      setenv(name_, before_->c_str(), 1);
    } else {
      unsetenv(name_);
    }
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
  std::optional<std::string> before_;
};

TEST(FileFacts, CacheFolderFollowsXdg) {
  const Variable home("HOME", "/home/someone");
  {
    const Variable cache("XDG_CACHE_HOME", "/var/caches");
    EXPECT_EQ(default_cache_folder(), fs::path("/var/caches/flopmark"));
  }
  for (const char* unusable : {static_cast<const char*>(nullptr), "", "relative"}) {
    const Variable cache("XDG_CACHE_HOME", unusable);
    EXPECT_EQ(default_cache_folder(), fs::path("/home/someone/.cache/flopmark"));
    const Variable homeless("HOME", nullptr);
    EXPECT_EQ(default_cache_folder(), std::nullopt);
  }
}

}  // namespace
}  // namespace flopmark
