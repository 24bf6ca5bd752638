#include "config/key_table.h"

#include <gtest/gtest.h>

#include <regex>
#include <set>

#include "config/key_value.h"

namespace flopmark {
namespace {

TEST(KeyTable, PathsAreUniqueAndLieInASection) {
  std::set<std::string> seen;
  for (const KeyRow& row : config_keys()) {
    EXPECT_TRUE(seen.insert(row.path).second) << row.path;
    EXPECT_TRUE(is_section(parent_of(row.path))) << row.path;
    EXPECT_FALSE(is_section(row.path)) << row.path;
    EXPECT_TRUE(std::regex_match(leaf_of(row.path), std::regex("[a-z][a-z0-9_]*"))) << row.path;
    EXPECT_FALSE(row.doc.empty()) << row.path;
  }
}

TEST(KeyTable, EverySectionHoldsAKeyAndHasItsParentBefore) {
  std::set<std::string> before = {""};
  for (const SectionRow& section : config_sections()) {
    EXPECT_EQ(before.count(parent_of(section.path)), 1U) << section.path;
    before.insert(section.path);
    const auto& rows = config_keys();
    const auto inside = [&](const KeyRow& row) { return parent_of(row.path) == section.path; };
    EXPECT_TRUE(std::any_of(rows.begin(), rows.end(), inside)) << section.path;
  }
}

TEST(KeyTable, EveryKeyHasAPlaceOfItsOwn) {
  RunConfig config;
  std::set<const void*> places;
  for (const KeyRow& row : config_keys()) {
    const void* place = std::visit([&](auto field) -> const void* { return &field(config); }, row.field);
    EXPECT_TRUE(places.insert(place).second) << row.path;
  }
}

TEST(KeyTable, DefaultsAreValidValues) {
  for (const KeyRow& row : config_keys()) {
    if (!row.default_text.empty()) continue;
    RunConfig config;
    EXPECT_TRUE(assign_value(row, default_of(row), config)) << row.path << " " << default_of(row);
  }
}

TEST(KeyTable, FormsCompileAndSayWhatTheyWant) {
  for (const KeyRow& row : config_keys()) {
    if (!std::holds_alternative<std::string& (*)(RunConfig&)>(row.field)) continue;
    EXPECT_TRUE(!row.values.empty() || !row.form.text.empty()) << row.path;
    EXPECT_NO_THROW(std::regex(row.form.pattern)) << row.path;
  }
}

TEST(KeyTable, FindsByPath) {
  EXPECT_EQ(find_key("train.optimizer.lr")->path, "train.optimizer.lr");
  EXPECT_EQ(find_key("train.optimizer"), nullptr);
  EXPECT_EQ(find_key(""), nullptr);
  EXPECT_TRUE(is_section(""));
  EXPECT_FALSE(is_section("optimizer"));
  EXPECT_EQ(parent_of("train.optimizer.lr"), "train.optimizer");
  EXPECT_EQ(parent_of("name"), "");
  EXPECT_EQ(leaf_of("train.optimizer.lr"), "lr");
  EXPECT_EQ(leaf_of("name"), "name");
}

}  // namespace
}  // namespace flopmark
