#include "report/text_layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace flopmark {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(TextLayout, WrapsAtBlanks) {
  EXPECT_THAT(wrap("one two three", 7), ElementsAre("one two", "three"));
  EXPECT_THAT(wrap("one two three", 8), ElementsAre("one two", "three"));
  EXPECT_THAT(wrap("  one   two  ", 80), ElementsAre("one two"));
  EXPECT_THAT(wrap("", 10), IsEmpty());
}

TEST(TextLayout, CutsWordsThatAreLongerThanALine) {
  EXPECT_THAT(wrap("a bcdefgh i", 3), ElementsAre("a", "bcd", "efg", "h i"));
}

TEST(TextLayout, CountsCharactersNotBytes) {
  EXPECT_EQ(display_width("Größe"), 5u);
  EXPECT_THAT(wrap("äöü äöü", 3), ElementsAre("äöü", "äöü"));
  EXPECT_THAT(wrap("äöüäöü", 4), ElementsAre("äöüä", "öü"));
}

TEST(TextLayout, FurtherLinesHangUnderTheFirst) {
  const std::string text = std::string(60, 'a') + " " + std::string(60, 'b');
  EXPECT_EQ(hanging("note: ", text),
            "note: " + std::string(60, 'a') + "\n      " + std::string(60, 'b') + "\n");
  EXPECT_EQ(hanging("note:", ""), "note:\n");
}

TEST(TextLayout, ALongIntroductionStillLeavesRoomForText) {
  EXPECT_EQ(hanging(std::string(150, 'x'), "one two"), std::string(150, 'x') + "one two\n");
}

TEST(TextLayout, TableAlignsValuesRightAndNotesLeft) {
  EXPECT_EQ(format_table({{"a", "1", "first"}, {"long", "100", ""}, {"b", "22", "third"}}),
            "a       1  first\n"
            "long  100\n"
            "b      22  third\n");
  EXPECT_EQ(format_table({}), "");
}

}  // namespace
}  // namespace flopmark
