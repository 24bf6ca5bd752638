#include "data/content_hash.h"

#include <gtest/gtest.h>

#include <string>

namespace flopmark {
namespace {

uint64_t hash_of(const std::string& bytes) {
  ContentHash hash;
  hash.add(std::as_bytes(std::span(bytes)));
  return hash.value();
}

// Expected values: the definition, worked out with Python's integers.
TEST(ContentHash, IsFnv1aOverWordsAndTheLength) {
  EXPECT_EQ(hash_of(""), 0xaf63bd4c8601b7dfu);
  EXPECT_EQ(hash_of("a"), 0x089be307b544f397u);
  EXPECT_EQ(hash_of("12345678"), 0xa6cd9ad677086a9cu);
  EXPECT_EQ(hash_of("flopmark measures"), 0x9225318c5ce92f2bu);
}

TEST(ContentHash, TellsPaddingFromContent) {
  EXPECT_EQ(hash_of(std::string("a\0", 2)), 0x089be407b544f54au);
}

TEST(ContentHash, MayBeFedInParts) {
  const std::string bytes = "flopmark measures";
  ContentHash hash;
  hash.add(std::as_bytes(std::span(bytes)).first(8));
  hash.add(std::as_bytes(std::span(bytes)).subspan(8));
  EXPECT_EQ(hash.value(), hash_of(bytes));
}

TEST(ContentHash, SeesEveryByte) {
  const std::string bytes(100, 'x');
  for (size_t i = 0; i < bytes.size(); ++i) {
    std::string changed = bytes;
    changed[i] = 'y';
    EXPECT_NE(hash_of(changed), hash_of(bytes)) << i;
  }
}

}  // namespace
}  // namespace flopmark
