// What a rank says of the others when they lose each other: the ranks are threads of this process.
#include "worker/rank_job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <latch>
#include <optional>
#include <set>
#include <thread>

namespace flopmark {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

const Failure kAtStep7{.kind = "error", .phase = "timed", .step = 7, .text = "it failed"};

/// Runs `body` for each rank, once it has met the others.
void run_jobs(size_t ranks, const std::function<void(RankJob&, size_t)>& body) {
  std::string folder = (std::filesystem::temp_directory_path() / "rank-job-XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr) throw std::runtime_error("no temporary folder");
  RunConfig config;
  config.device = "cpu";
  config.parallel.timeout_s = 20;
  std::vector<std::thread> threads;
  for (size_t rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&, rank] {
      RankPlace place;
      place.rank = place.local_rank = static_cast<int64_t>(rank);
      place.ranks = place.local_ranks = static_cast<int64_t>(ranks);
      place.meeting_file = folder + "/meeting";
      place.meeting = "test";
      RankJob job(place, config);
      job.meet();
      body(job, rank);
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::filesystem::remove_all(folder);
}

/// What each rank makes of a failure in timed step 7. `lost` by rank: lost the others; the rest say nothing.
std::vector<Failure> explained(const std::vector<bool>& lost, const std::string& kind = "error") {
  std::vector<Failure> found(lost.size());
  run_jobs(lost.size(), [&](RankJob& job, size_t rank) {
    Failure failure = kAtStep7;
    failure.kind = kind;
    const PeerLost error("no answer");
    if (kind != "error") found[rank] = job.explained(failure, nullptr);
    if (kind == "error" && lost[rank]) found[rank] = job.explained(failure, &error);
  });
  return found;
}

/// What rank 0, which stands still, says of it once the ranks in `waiting` have given it up.
std::optional<Failure> stood_still(size_t ranks, const std::set<size_t>& waiting) {
  std::optional<Failure> found;
  std::latch noted(static_cast<std::ptrdiff_t>(ranks));
  run_jobs(ranks, [&](RankJob& job, size_t rank) {
    if (waiting.count(rank) > 0) {
      Failure failure = kAtStep7;
      failure.kind = "peer_lost";
      job.note(failure);
    }
    noted.arrive_and_wait();
    if (rank == 0) found = job.given_up(kAtStep7);
  });
  return found;
}

TEST(RankJob, OneThatStandsStillIsAtFaultIfAllOthersWaitForIt) {
  const auto failure = stood_still(3, {1, 2});
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->kind, "timeout");
  EXPECT_EQ(failure->rank, 0);
  EXPECT_THAT(failure->text, HasSubstr("stood still in timed step 7 for 20 s"));
  EXPECT_EQ(stood_still(3, {}), std::nullopt);
}

// It may stand in a collective of its own that waits for rank 2, whose time is not up yet.
TEST(RankJob, OneThatStandsStillBesideOthersIsNotBlamed) {
  const auto failure = stood_still(3, {1});
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->kind, "peer_lost");
  EXPECT_EQ(failure->rank, std::nullopt);
  EXPECT_THAT(failure->text, AllOf(HasSubstr("rank 0 stood still in timed step 7"),
                                   HasSubstr("there is no word from rank 2 (host ")));
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
