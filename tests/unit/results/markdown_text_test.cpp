#include "results/markdown_text.h"

#include <gtest/gtest.h>

namespace flopmark {
namespace {

TEST(MarkdownText, PlainTextStaysAsItIs) {
  EXPECT_EQ(markdown_escaped("NVIDIA H100 80GB HBM3 (SXM), 2.10GHz"), "NVIDIA H100 80GB HBM3 (SXM), 2.10GHz");
  EXPECT_EQ(markdown_escaped("\xC3\xA9t\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x9A\x80"),
            "\xC3\xA9t\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x9A\x80");
  EXPECT_EQ(markdown_escaped(""), "");
}

TEST(MarkdownText, MarksAreEscaped) {
  EXPECT_EQ(markdown_escaped("a|b"), "a\\|b");
  EXPECT_EQ(markdown_escaped("<script>&amp;"), "\\<script\\>\\&amp;");
  EXPECT_EQ(markdown_escaped("[x](y) `z` *w* _v_ \\"), "\\[x\\](y) \\`z\\` \\*w\\* \\_v\\_ \\\\");
}

TEST(MarkdownText, ControlCharactersAreLeftOut) {
  EXPECT_EQ(markdown_escaped("a\nb\r\tc\x1B[31md\x7F"), "abc\\[31md");
  EXPECT_EQ(markdown_escaped(std::string_view("a\0b", 3)), "ab");
  EXPECT_EQ(markdown_escaped("a\xC2\x9B"
                             "31mb"),
            "a31mb")
      << "C1: another way to write an escape";
  EXPECT_EQ(markdown_escaped("a\xE2\x80\xAE"
                             "b\xE2\x80\xA8"
                             "c\xE2\x81\xA6"
                             "d"),
            "abcd")
      << "direction and line breaks";
}

TEST(MarkdownText, BytesThatAreNoUtf8AreLeftOut) {
  EXPECT_EQ(markdown_escaped("a\xFF"
                             "b\xC3"),
            "ab");
  EXPECT_EQ(markdown_escaped("\xC1\xBC"), "") << "an overlong |";
  EXPECT_EQ(markdown_escaped("\xE0\x81\xBC"), "");
  EXPECT_EQ(markdown_escaped("\xED\xA0\x80x"), "x") << "half a surrogate pair";
  EXPECT_EQ(markdown_escaped("\xF4\x90\x80\x80x"), "x") << "beyond the last code point";
}

}  // namespace
}  // namespace flopmark
