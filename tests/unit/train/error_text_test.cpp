#include "train/error_text.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace flopmark {
namespace {

TEST(ErrorText, IsTheFirstLineWithoutGuesses) {
  EXPECT_EQ(first_line_of(std::runtime_error("one\ntwo")), "one");
  EXPECT_EQ(first_line_of(std::runtime_error("Connection closed by peer [10.0.0.1]:80. This is typically "
                                             "caused by a remote worker crashing. GLHF!")),
            "Connection closed by peer [10.0.0.1]:80.");
  EXPECT_EQ(first_line_of(std::runtime_error("")), "");
}

}  // namespace
}  // namespace flopmark
