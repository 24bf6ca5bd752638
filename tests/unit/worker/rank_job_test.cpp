// What a rank says of the others when they lose each other: the ranks are threads of this process.
#include "worker/rank_job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <thread>

namespace flopmark {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

/// What each rank makes of a failure in timed step 7. `lost` by rank: lost the others; the rest say nothing.
std::vector<Failure> explained(const std::vector<bool>& lost, const std::string& kind = "error") {
  std::string folder = (std::filesystem::temp_directory_path() / "rank-job-XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr) throw std::runtime_error("no temporary folder");
  RunConfig config;
  config.device = "cpu";
  config.parallel.timeout_s = 20;
  std::vector<Failure> found(lost.size());
  std::vector<std::thread> threads;
  for (size_t rank = 0; rank < lost.size(); ++rank) {
    threads.emplace_back([&, rank] {
      RankPlace place;
      place.rank = place.local_rank = static_cast<int64_t>(rank);
      place.ranks = place.local_ranks = std::ssize(lost);
      place.meeting_file = folder + "/meeting";
      place.meeting = "test";
      RankJob job(place, config);
      job.meet();
      const Failure failure{.kind = kind, .phase = "timed", .step = 7, .text = "it failed"};
      const PeerLost error("no answer");
      if (kind != "error") found[rank] = job.explained(failure, nullptr);
      if (kind == "error" && lost[rank]) found[rank] = job.explained(failure, &error);
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::filesystem::remove_all(folder);
  return found;
}

TEST(RankJob, TheOneThatSaysNothingIsNamed) {
  for (const Failure& failure : {explained({true, false}).at(0), explained({true, true, false}).at(1)}) {
    EXPECT_EQ(failure.kind, "peer_lost");
    ASSERT_TRUE(failure.rank);
    EXPECT_THAT(failure.text, HasSubstr("no word from rank " + std::to_string(*failure.rank) + " (host "));
  }
}

TEST(RankJob, SeveralThatSayNothingAreAllSuspect) {
  const Failure failure = explained({false, true, false}).at(1);
  EXPECT_EQ(failure.kind, "peer_lost");
  EXPECT_EQ(failure.rank, std::nullopt);
  EXPECT_EQ(failure.host, std::nullopt);
  EXPECT_THAT(failure.text, AllOf(HasSubstr("no word from ranks 0, 2 (host "), HasSubstr("timed step 7")));
}

TEST(RankJob, ALossThatIsNoNumberIsNoRanksOwn) {
  for (const Failure& failure : explained({false, false}, "nan_loss")) {
    EXPECT_EQ(failure.kind, "nan_loss");
    EXPECT_EQ(failure.rank, std::nullopt);
    EXPECT_THAT(failure.text, HasSubstr("mean of the losses of 2 ranks"));
  }
}

}  // namespace
}  // namespace flopmark
