#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "config/key_value.h"
#include "config/run_config.h"

namespace flopmark {
namespace {

using nlohmann::json;

const json& schema_of(const json& root, const std::string& path) {
  return path.empty() ? root : schema_of(root, parent_of(path)).at("properties").at(leaf_of(path));
}

TEST(ConfigSchema, CommittedFileIsCurrent) {
  const std::string path = FLOPMARK_SOURCE_DIR "/configs/schema.json";
  const std::string generated = config_schema().dump(2) + "\n";
  if (std::getenv("FLOPMARK_UPDATE_GOLDEN") != nullptr) std::ofstream(path, std::ios::binary) << generated;
  std::ostringstream committed;
  committed << std::ifstream(path, std::ios::binary).rdbuf();
  EXPECT_TRUE(committed.str() == generated)
      << path << " is not what the key table gives. Regenerate it:\n"
      << "  flopmark run --help-config --format schema > configs/schema.json\n"
      << "or run this test with FLOPMARK_UPDATE_GOLDEN=1.";
}

TEST(ConfigSchema, HoldsEveryKeyWithDescriptionAndNothingElse) {
  const json root = config_schema();
  EXPECT_EQ(root.at("$schema"), "https://json-schema.org/draft/2020-12/schema");
  size_t keys = 0;
  for (const KeyRow& row : config_keys()) {
    const json& key = schema_of(root, row.path);
    EXPECT_THAT(key.at("description").get<std::string>(), testing::HasSubstr(row.doc)) << row.path;
    EXPECT_TRUE(key.contains("default") || !row.default_text.empty()) << row.path;
    ++keys;
  }
  EXPECT_EQ(root.at("properties").at("extends").at("type"), "string");
  EXPECT_EQ(root.at("properties").at("$schema").at("type"), "string");
  size_t listed = 0;
  for (const SectionRow& section : config_sections())
    listed += schema_of(root, section.path).at("properties").size();
  listed += root.at("properties").size();
  EXPECT_EQ(listed, keys + config_sections().size() + 2);
}

TEST(ConfigSchema, ObjectsAreClosed) {
  EXPECT_EQ(config_schema().at("additionalProperties"), false);
  for (const SectionRow& section : config_sections()) {
    EXPECT_EQ(schema_of(config_schema(), section.path).at("additionalProperties"), false) << section.path;
  }
}

TEST(ConfigSchema, ConstraintsByType) {
  const json root = config_schema();
  const auto without_text = [&](const char* path) {
    json key = schema_of(root, path);
    key.erase("description");
    return key;
  };
  EXPECT_EQ(without_text("data.batch_size"),
            json::parse(R"({"type": "integer", "minimum": 1, "maximum": 2147483647, "default": 1})"));
  EXPECT_EQ(
      without_text("train.seed"),
      json::parse(R"({"type": "integer", "minimum": 0, "maximum": 9223372036854775807, "default": 0})"));
  EXPECT_EQ(without_text("model.dropout"),
            json::parse(R"({"type": "number", "minimum": 0.0, "exclusiveMaximum": 1.0})"));
  EXPECT_EQ(without_text("train.gradient_clip"),
            json::parse(R"({"type": ["number", "null"], "exclusiveMinimum": 0.0, "default": null})"));
  EXPECT_EQ(without_text("train.optimizer.type"),
            json::parse(R"({"type": "string", "enum": ["sgd", "adamw"], "default": "adamw"})"));
  EXPECT_EQ(without_text("data.shuffle"), json::parse(R"({"type": "boolean", "default": true})"));
  EXPECT_EQ(without_text("name").at("pattern"), "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$");
}

}  // namespace
}  // namespace flopmark
