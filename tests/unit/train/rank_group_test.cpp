#include "train/rank_group.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <future>

#include "flopmark/error.h"
#include "train/own_address.h"
#include "unit/train/rank_threads.h"
#include "unit/train/silent_relay.h"

namespace flopmark {
namespace {

using testing::AllOf;
using testing::HasSubstr;

/// A port of this host that someone listens on and never answers.
class SilentListener {
 public:
  SilentListener() : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    if (::bind(socket_, reinterpret_cast<sockaddr*>(&address), size) != 0 || ::listen(socket_, 8) != 0 ||
        ::getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size) != 0)
      throw std::runtime_error("cannot listen");
    port_ = ntohs(address.sin_port);
  }
  ~SilentListener() { close(); }
  /// The port is free, and was a moment ago.
  int64_t close() {
    if (socket_ >= 0) ::close(socket_);
    socket_ = -1;
    return port_;
  }
  int64_t port() const { return port_; }

 private:
  int socket_;
  int64_t port_ = 0;
};

RankGroup::Options over_tcp(int64_t rank, int64_t ranks, int64_t port, double timeout_s) {
  RankPlace place;
  place.rank = rank;
  place.ranks = ranks;
  place.master_address = "127.0.0.1";
  place.master_port = port;
  place.meeting = "t";
  return {.place = place, .timeout_s = timeout_s};
}

/// What meeting throws, as "code: text"; "met" if nothing.
std::string meeting_of(const RankGroup::Options& options) {
  RankGroup group(options);
  try {
    group.meet();
    return "met";
  } catch (const Error& error) {
    return std::to_string(static_cast<int>(error.code())) + ": " + error.what();
  } catch (const PeerLost& error) {
    return std::string("lost: ") + error.what();
  }
}

TEST(RankGroup, CombinesValuesOfAllRanks) {
  test::run_ranks(3, [](RankGroup& group) {
    const auto own = static_cast<double>(group.rank());
    EXPECT_EQ(group.combined(own, Combine::sum), 3);
    EXPECT_EQ(group.combined(own, Combine::max), 2);
    EXPECT_EQ(group.combined(own, Combine::min), 0);
    EXPECT_TRUE(group.all_agree(true));
    EXPECT_FALSE(group.all_agree(group.rank() != 1));
    const auto all = group.gather("words", {{"rank", group.rank()}});
    ASSERT_EQ(all.size(), 3u);
    for (int64_t rank = 0; rank < 3; ++rank) EXPECT_EQ(all[static_cast<size_t>(rank)]["rank"], rank);
  });
}

TEST(RankGroup, BroadcastsRankZerosValuesInAnyLayout) {
  test::run_ranks(2, [](RankGroup& group) {
    const auto plain = torch::full({3}, static_cast<double>(group.rank()));
    const auto turned = torch::full({2, 3}, static_cast<double>(group.rank())).t();
    auto leaf = torch::full({2}, static_cast<double>(group.rank())).set_requires_grad(true);
    group.broadcast({plain, turned, leaf});
    EXPECT_EQ(plain.sum().item<double>(), 0);
    EXPECT_EQ(turned.sum().item<double>(), 0);
    EXPECT_EQ(leaf.sum().item<double>(), 0);
  });
}

TEST(RankGroup, MeetsOverTcp) {
  const int64_t port = SilentListener().close();
  auto other = std::async(std::launch::async, [&] { return meeting_of(over_tcp(1, 2, port, 10)); });
  RankGroup first(over_tcp(0, 2, port, 10));
  first.meet();
  EXPECT_EQ(other.get(), "met");
  EXPECT_THAT(first.host_names(), testing::Each(own_host_name()));
  EXPECT_EQ(first.host_name(1), own_host_name());
}

TEST(RankGroup, ARankThatDoesNotComeIsNamed) {
  const int64_t port = SilentListener().close();
  EXPECT_THAT(meeting_of(over_tcp(0, 3, port, 1)),
              AllOf(HasSubstr("lost: ranks 1, 2 of 3 did not come in time (parallel.timeout_s is 1)"),
                    HasSubstr("127.0.0.1:")));
}

TEST(RankGroup, APortInUseIsSaid) {
  const SilentListener listener;
  EXPECT_THAT(meeting_of(over_tcp(0, 2, listener.port(), 1)),
              AllOf(HasSubstr("200: "), HasSubstr("in use"), HasSubstr(std::to_string(listener.port()))));
}

TEST(RankGroup, AMasterThatIsNotThereIsSaid) {
  const int64_t port = SilentListener().close();
  EXPECT_THAT(meeting_of(over_tcp(1, 2, port, 1)),
              AllOf(HasSubstr("200: "), HasSubstr("does not answer"), HasSubstr("MASTER_ADDR")));
}

TEST(RankGroup, AnUnknownMasterIsSaid) {
  auto options = over_tcp(1, 2, 29555, 1);
  options.place.master_address = "no-such-host.invalid";
  EXPECT_THAT(meeting_of(options),
              AllOf(HasSubstr("200: "), HasSubstr("MASTER_ADDR \"no-such-host.invalid\" is no host")));
}

TEST(RankGroup, ASilentForeignListenerDoesNotHangIt) {
  const SilentListener listener;
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_THAT(meeting_of(over_tcp(1, 2, listener.port(), 1)), HasSubstr("200: "));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(6));
}

TEST(RankGroup, AFailureIsReadByTheOthers) {
  test::run_ranks(3, [](RankGroup& group) {
    if (group.rank() == 1) {
      group.note_failure({.kind = "error", .phase = "timed", .step = 7, .text = "on purpose"}, /*own=*/true);
      return;
    }
    bool reachable = false;
    const auto noted = group.noted_failures(5, reachable);
    EXPECT_TRUE(reachable);
    ASSERT_EQ(noted.count(1), 1u);
    EXPECT_TRUE(noted.at(1).own);
    EXPECT_EQ(noted.at(1).failure.step, 7);
    EXPECT_EQ(noted.at(1).failure.text, "on purpose");
    EXPECT_EQ(noted.at(1).failure.rank, 1);
    try {
      group.gather("never", nullptr);
      ADD_FAILURE() << "rank 1 has failed";
    } catch (const PeerLost&) {
    }
  });
}

TEST(RankGroup, ASecondProcessOfARankIsRefusedAndTheJobLives) {
  const int64_t port = SilentListener().close();
  RankGroup first(over_tcp(0, 2, port, 10)), other(over_tcp(1, 2, port, 10)),
      second(over_tcp(1, 2, port, 10));
  auto met = std::async(std::launch::async, [&] { first.meet(); });
  other.meet();
  met.get();
  try {
    second.meet();
    ADD_FAILURE() << "it is not the first rank 1";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    EXPECT_THAT(error.what(), AllOf(HasSubstr("rank 1: another process already is rank 1"),
                                    HasSubstr("127.0.0.1:"), HasSubstr("MASTER_PORT")));
  }
  second.note_failure({.kind = "error", .phase = "load", .step = {}, .text = "refused"}, /*own=*/true);
  bool reachable = false;
  EXPECT_TRUE(first.noted_failures(0.1, reachable).empty());
  EXPECT_TRUE(reachable);
}

// The network between is lost after the meeting: what is left to say must not wait for the time limit.
TEST(RankGroup, AStoreThatFallsSilentHoldsUpAFailureForSecondsOnly) {
  const int64_t port = SilentListener().close();
  RankGroup first(over_tcp(0, 2, port, 30));
  auto met = std::async(std::launch::async, [&] { first.meet(); });
  while (!accepts_connections("127.0.0.1", port, 1))
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  test::SilentRelay relay(port);
  RankGroup other(over_tcp(1, 2, relay.port(), 30));
  other.meet();
  met.get();
  relay.fall_silent();
  const auto begin = std::chrono::steady_clock::now();
  other.note_failure({.kind = "peer_lost", .phase = "timed", .step = 7, .text = "cut off"}, /*own=*/false);
  bool reachable = true;
  EXPECT_TRUE(other.noted_failures(2, reachable).empty());
  EXPECT_FALSE(reachable);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(6));
}

// A call that waits for another rank in the store holds its lock: that is no reason to give a rank up.
TEST(RankGroup, AStoreThatIsWaitedInIsNotGone) {
  const int64_t port = SilentListener().close();
  RankGroup first(over_tcp(0, 2, port, 2)), other(over_tcp(1, 2, port, 2));
  auto met = std::async(std::launch::async, [&] { first.meet(); });
  other.meet();
  met.get();
  auto alone =
      std::async(std::launch::async, [&] { EXPECT_THROW(other.connect("gloo", torch::kCPU), PeerLost); });
  while (alone.wait_for(std::chrono::milliseconds(50)) != std::future_status::ready) {
    EXPECT_FALSE(other.is_given_up());
  }
  first.note_failure({.kind = "error", .phase = "load", .step = {}, .text = "on purpose"}, /*own=*/true);
  EXPECT_TRUE(other.is_given_up());
}

// Rank 1 never takes part: the others' all-reduce ends at the time limit, and says so.
TEST(RankGroup, ACollectiveWithoutOneRankEndsInTime) {
  test::run_ranks(
      2,
      [](RankGroup& group) {
        if (group.rank() == 1) {
          std::this_thread::sleep_for(std::chrono::seconds(3));
          return;
        }
        EXPECT_THROW(group.all_agree(true), PeerLost);
      },
      /*timeout_s=*/1);
}

}  // namespace
}  // namespace flopmark
