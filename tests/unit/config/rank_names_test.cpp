#include "config/rank_names.h"

#include <gtest/gtest.h>

namespace flopmark {
namespace {

TEST(RankNames, OfOneRank) {
  EXPECT_EQ(rank_on_host(3, "b"), "rank 3 on b");
  EXPECT_EQ(rank_on_host(3, ""), "rank 3");
  EXPECT_EQ(rank_on_host(3, std::nullopt), "rank 3");
}

TEST(RankNames, HostsAreNamedOnce) {
  const std::vector<std::string> hosts{"a", "b", "a", "a", ""};
  EXPECT_EQ(rank_list({1}, hosts), "rank 1 (host b)");
  EXPECT_EQ(rank_list({0, 2}, hosts), "ranks 0, 2 (host a)");
  EXPECT_EQ(rank_list({0, 1}, hosts), "ranks 0 (host a), 1 (host b)");
  EXPECT_EQ(rank_list({4}, hosts), "rank 4");
  EXPECT_EQ(rank_list({3, 4}, hosts), "ranks 3 (host a), 4");
}

}  // namespace
}  // namespace flopmark
