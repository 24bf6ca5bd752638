#include "launch/printable_text.h"

#include <gtest/gtest.h>

namespace flopmark {
namespace {

TEST(PrintableText, DropsEscapesAndControls) {
  EXPECT_EQ(printable_text("\x1b[31mred\x1b[0m \x1b]0;title\a!\x1b(B.", 100), "red !B.");
  EXPECT_EQ(printable_text("a\tb\nc\r\x7f\x01", 100), "a b c");
  EXPECT_EQ(printable_text("x\xC2\x9Bm \xE2\x80\xAEy\xEF\xBB\xBF", 100), "xm y");
  EXPECT_EQ(printable_text("\x1b", 100), "");
  EXPECT_EQ(printable_text("a\x1b[12;", 100), "a");
  EXPECT_EQ(printable_text("a\x1b]0;never ended", 100), "a");
}

TEST(PrintableText, KeepsUtf8AndReplacesWhatIsNot) {
  EXPECT_EQ(printable_text("d\xC3\xA9j\xC3\xA0 \xE2\x82\xAC \xF0\x9F\x98\x80", 100),
            "d\xC3\xA9j\xC3\xA0 \xE2\x82\xAC \xF0\x9F\x98\x80");
  EXPECT_EQ(printable_text("a\xFFz \xC0\xAF \xED\xA0\x80 \xE2\x82", 100), "a?z ?? ??? ??");
}

TEST(PrintableText, CutsBetweenCharacters) {
  EXPECT_EQ(printable_text("12345678", 8), "12345678");
  EXPECT_EQ(printable_text("123456789", 8), "12345...");
  EXPECT_EQ(printable_text("1234\xE2\x82\xAC"
                           "6789",
                           8),
            "1234...");
  EXPECT_EQ(printable_text("123456", 3), "...");
}

}  // namespace
}  // namespace flopmark
