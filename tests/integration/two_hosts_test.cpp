// Two hosts as two network namespaces with a cable between them: the job runs across it, a slow cable shows
// as exposed communication, and a pulled one ends the job in time. Needs root and iproute2.
#include <unistd.h>

#include "integration/ranks_run.h"

namespace flopmark::testing {
namespace {

using ::testing::HasSubstr;

class TwoHosts : public RanksRun {
 protected:
  static constexpr const char* kMasterPort = "29511";
  static constexpr const char* kSlow = "20mbit";  ///< 2.5 MB/s, for half a megabyte of gradients

  void SetUp() override {
    RanksRun::SetUp();
    if (::geteuid() != 0) GTEST_SKIP() << "network namespaces need root";
    for (const std::string& host : hosts_) {
      if (!ip({"netns", "add", host})) GTEST_SKIP() << "no network namespaces here (ip netns add)";
      if (!ip({"netns", "exec", host, "true"})) GTEST_SKIP() << "none can be entered here (ip netns exec)";
    }
    const bool cable = ip({"link", "add", end_of(0), "type", "veth", "peer", "name", end_of(1)});
    if (!cable) GTEST_SKIP() << "no veth devices here (ip link add type veth)";
    for (const int host : {0, 1}) {
      ASSERT_TRUE(ip({"link", "set", end_of(host), "netns", hosts_[host]}));
      ASSERT_TRUE(ip({"-n", hosts_[host], "addr", "add", address_of(host) + "/24", "dev", end_of(host)}));
      ASSERT_TRUE(ip({"-n", hosts_[host], "link", "set", end_of(host), "up"}));
      ASSERT_TRUE(ip({"-n", hosts_[host], "link", "set", "lo", "up"}));
    }
  }
  void TearDown() override {
    RanksRun::TearDown();
    for (const std::string& host : hosts_) ip({"netns", "del", host});
  }

  static bool ip(const std::vector<std::string>& arguments) {
    ProgramOptions options;
    options.arguments = arguments;
    return run_program("ip", options).exit_code == 0;
  }
  std::string end_of(int host) const { return "fm" + std::to_string(host) + "-" + id_; }
  static std::string address_of(int host) { return "10.77.0." + std::to_string(host + 1); }
  bool slow_down_cable() const {
    bool done = true;
    for (const int host : {0, 1}) {
      done = done && ip({"netns", "exec", hosts_[host], "tc", "qdisc", "add", "dev", end_of(host), "root",
                         "tbf", "rate", kSlow, "burst", "32kbit", "latency", "400ms"});
    }
    return done;
  }

  /// The rank of `host`, with its own files.
  ProgramOptions rank_on(int host, const std::vector<std::string>& more) const {
    ProgramOptions options = placed(more, {{"RANK", std::to_string(host)},
                                           {"WORLD_SIZE", "2"},
                                           {"MASTER_ADDR", address_of(0)},
                                           {"MASTER_PORT", kMasterPort}});
    const std::vector<std::string> words{"netns", "exec", hosts_[host], FLOPMARK_PROGRAM};
    options.arguments.insert(options.arguments.begin(), words.begin(), words.end());
    return options;
  }
  /// Of a job across the cable that ends well.
  nlohmann::json record_across(const std::vector<std::string>& more = {"--force"}) const {
    RunningProgram first("ip", rank_on(0, more)), other("ip", rank_on(1, more));
    const ProgramResult its = other.wait(), firsts = first.wait();
    EXPECT_EQ(firsts.exit_code, 0) << firsts.err;
    EXPECT_EQ(its.exit_code, 0) << its.err;
    return firsts.exit_code == 0 ? record() : nlohmann::json();
  }

  const std::string id_ = std::to_string(::getpid());
  const std::vector<std::string> hosts_{"flopmark-a-" + id_, "flopmark-b-" + id_};
};

TEST_F(TwoHosts, ASlowCableShowsAsExposedCommunication) {
  const nlohmann::json fast = record_across();
  ASSERT_FALSE(fast.is_null());
  EXPECT_EQ(fast["ranks"].size(), 2u);
  if (!slow_down_cable()) GTEST_SKIP() << "no token bucket here (tc qdisc add tbf)";
  const nlohmann::json slow = record_across();
  ASSERT_FALSE(slow.is_null());
  const double fast_s = fast["metrics"]["step_s"]["median"], slow_s = slow["metrics"]["step_s"]["median"];
  EXPECT_GT(slow_s, fast_s + 0.1);
  EXPECT_GT(slow["metrics"]["communication_exposed_ratio"], 0.5);
  EXPECT_GT(slow["metrics"]["communication_exposed_ratio"], fast["metrics"]["communication_exposed_ratio"]);
  EXPECT_GT(slow["phases"]["communication_exposed_s"], 0.5 * slow_s);
  const double bandwidth = slow["communication"]["bus_bandwidth_bytes_per_s"];
  EXPECT_GT(bandwidth, 0.5e6);
  EXPECT_LT(bandwidth, 6e6);
}

TEST_F(TwoHosts, APulledCableEndsTheJobInTime) {
  const std::vector<std::string> endless{"--set", "measure.steps=100000", "--set", "parallel.timeout_s=5"};
  RunningProgram first("ip", rank_on(0, endless)), other("ip", rank_on(1, endless));
  ASSERT_TRUE(holds_soon([&] { return workers().size() == 2; }));
  std::this_thread::sleep_for(std::chrono::seconds(5));
  ASSERT_EQ(workers().size(), 2u) << first.error_so_far() << other.error_so_far();
  ASSERT_TRUE(ip({"-n", hosts_[0], "link", "set", end_of(0), "down"}));
  const auto begin = std::chrono::steady_clock::now();
  const ProgramResult firsts = first.wait(), its = other.wait();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(45));
  EXPECT_EQ(firsts.exit_code, 125) << firsts.err;
  EXPECT_EQ(its.exit_code, 125) << its.err;
  EXPECT_THAT(firsts.err, HasSubstr("rank 1"));
  EXPECT_THAT(its.err, HasSubstr("rank 0"));
  EXPECT_EQ(record()["failure"]["kind"], "peer_lost");
  EXPECT_EQ(record()["failure"]["rank"], 1);
}

}  // namespace
}  // namespace flopmark::testing
