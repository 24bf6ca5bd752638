#include "flops/strided_span.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace flopmark {
namespace {

using Numbers = std::vector<int64_t>;

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

std::optional<int64_t> span_of(const Numbers& sizes, const Numbers& strides, int64_t offset = 0) {
  return strided_span(sizes, strides, offset);
}

TEST(StridedSpan, EndsAfterTheLastValue) {
  EXPECT_EQ(span_of({2, 3}, {3, 1}), 6);
  EXPECT_EQ(span_of({2, 3}, {1, 2}), 6);      // transposed
  EXPECT_EQ(span_of({2, 3}, {10, 1}), 13);    // rows of a wider matrix
  EXPECT_EQ(span_of({2, 3}, {3, 1}, 5), 11);  // a view that begins later
  EXPECT_EQ(span_of({1000, 3}, {0, 1}), 3);   // expanded
  EXPECT_EQ(span_of({}, {}), 1);              // a single value
  EXPECT_EQ(span_of({}, {}, 4), 5);
}

TEST(StridedSpan, NothingIsReachedWithoutValues) {
  EXPECT_EQ(span_of({5, 0, kMost}, {kMost, 1, kMost}, 7), 0);
}

TEST(StridedSpan, RefusesNegativeNumbersAndUnequalLists) {
  EXPECT_EQ(span_of({-1}, {1}), std::nullopt);
  EXPECT_EQ(span_of({2}, {-1}, 1), std::nullopt);
  EXPECT_EQ(span_of({2}, {1}, -1), std::nullopt);
  EXPECT_EQ(span_of({2, 2}, {1}), std::nullopt);
}

TEST(StridedSpan, RefusesWhat64BitsCannotCount) {
  EXPECT_EQ(span_of({kMost}, {1}), kMost);
  EXPECT_EQ(span_of({kMost}, {2}), std::nullopt);
  EXPECT_EQ(span_of({kMost}, {1}, 1), std::nullopt);
  EXPECT_EQ(span_of({kMost, 3}, {1, kMost / 2}), std::nullopt);
}

}  // namespace
}  // namespace flopmark
