// Ranks that somebody else starts: by hand, by mpirun, by torchrun (here a small one without Python).
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "integration/ranks_run.h"

namespace flopmark::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// A port of this host that nobody used a moment ago; while `keep` lives, it is in use.
struct UsedPort {
  UsedPort() : socket(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_ANY);
    socklen_t size = sizeof address;
    ::bind(socket, reinterpret_cast<sockaddr*>(&address), size);
    ::listen(socket, 8);
    ::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size);
    number = std::to_string(ntohs(address.sin_port));
  }
  ~UsedPort() { free(); }
  UsedPort(const UsedPort&) = delete;
  UsedPort& operator=(const UsedPort&) = delete;
  void free() {
    if (socket >= 0) ::close(socket);
    socket = -1;
  }

  int socket;
  std::string number;
};

std::string free_port() {
  return UsedPort().number;
}

std::optional<std::string> program_named(const std::string& name) {
  std::istringstream path(std::getenv("PATH") == nullptr ? "" : std::getenv("PATH"));
  for (std::string folder; std::getline(path, folder, ':');) {
    if (::access((folder + "/" + name).c_str(), X_OK) == 0) return folder + "/" + name;
  }
  return std::nullopt;
}

class LaunchedRanks : public RanksRun {
 protected:
  static constexpr const char* kLimit = "parallel.timeout_s=5";

  std::map<std::string, std::string> variables(int rank, const std::string& port) const {
    return {{"RANK", std::to_string(rank)},
            {"WORLD_SIZE", "2"},
            {"MASTER_ADDR", "127.0.0.1"},
            {"MASTER_PORT", port}};
  }
  /// A launcher with its options in front of `flopmark run`.
  ProgramOptions launched(std::vector<std::string> words, const std::vector<std::string>& more = {}) const {
    ProgramOptions options = placed(more);
    words.emplace_back(FLOPMARK_PROGRAM);
    options.arguments.insert(options.arguments.begin(), words.begin(), words.end());
    return options;
  }
  void expect_two_ranks_on_record() const {
    const nlohmann::json record = this->record();
    EXPECT_EQ(record["status"], "ok");
    EXPECT_EQ(record["ranks"].size(), 2u);
    EXPECT_EQ(record["config"]["parallel"]["ranks"], 2);
    EXPECT_EQ(record["communication"]["backend"], "gloo");
  }
};

TEST_F(LaunchedRanks, ByHandTheFirstWritesAndTheOtherIsSilent) {
  const std::string port = free_port();
  const std::vector<std::string> repeats{"--set", "measure.repeats=3"};
  RunningProgram first(FLOPMARK_PROGRAM, placed(repeats, variables(0, port)));
  RunningProgram other(FLOPMARK_PROGRAM, placed(repeats, variables(1, port)));
  const ProgramResult its = other.wait(), firsts = first.wait();
  EXPECT_EQ(firsts.exit_code, 0) << firsts.err;
  EXPECT_EQ(its.exit_code, 0) << its.err;
  EXPECT_EQ(its.out + its.err, "");
  EXPECT_THAT(firsts.out, HasSubstr("Samples/s"));
  expect_two_ranks_on_record();
  EXPECT_EQ(record()["repeats"].size(), 3u);
}

TEST_F(LaunchedRanks, Mpirun) {
  const auto mpirun = program_named("mpirun");
  if (!mpirun) GTEST_SKIP() << "no mpirun: install openmpi-bin";
  const ProgramResult result = run_program(
      *mpirun,
      launched({"--allow-run-as-root", "--oversubscribe", "-n", "2"}, {"--set", "measure.repeats=2"}));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  expect_two_ranks_on_record();
}

TEST_F(LaunchedRanks, Torchrun) {
  const ProgramResult result =
      run_program(FLOPMARK_SMALL_TORCHRUN, launched({"2"}, {"--set", "measure.repeats=2"}));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  expect_two_ranks_on_record();
}

TEST_F(LaunchedRanks, TorchrunItself) {
  const auto torchrun = program_named("torchrun");
  if (!torchrun) GTEST_SKIP() << "no torchrun: install a torch package for Python";
  const ProgramResult result =
      run_program(*torchrun, launched({"--no_python", "--nproc_per_node", "2", "--rdzv_backend", "c10d",
                                       "--rdzv_endpoint", "127.0.0.1:" + free_port()}));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  expect_two_ranks_on_record();
}

TEST_F(LaunchedRanks, UnderTorchrunAFailureIsOnRecord) {
  RunningProgram program(FLOPMARK_SMALL_TORCHRUN,
                         launched({"2"}, {"--set", "measure.steps=100000", "--set", kLimit}));
  ASSERT_TRUE(holds_soon([&] { return worker_of(1).has_value(); }));
  std::this_thread::sleep_for(std::chrono::seconds(4));
  const auto pid = worker_of(1);
  ASSERT_TRUE(pid);
  ::kill(*pid, SIGKILL);
  const ProgramResult result = program.wait();
  EXPECT_EQ(result.exit_code, 125) << result.err;
  EXPECT_THAT(result.err, AllOf(HasSubstr("flopmark: error: rank 1: "), HasSubstr("SIGKILL")));
  const nlohmann::json failure = record()["failure"];
  EXPECT_EQ(failure["kind"], "peer_lost");
  EXPECT_EQ(failure["rank"], 1);
}

// The agent's store keeps what the ranks wrote before they failed.
TEST_F(LaunchedRanks, TorchrunStartsThemAgain) {
  ProgramOptions options = launched({"2"}, with_fault({"--set", kLimit, "--force"}));
  options.environment["SMALL_TORCHRUN_RESTARTS"] = "1";
  options.environment["FLOPMARK_FAULT"] = "throw@timed:3";
  const ProgramResult result = run_program(FLOPMARK_SMALL_TORCHRUN, options);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("a fault on purpose"));
  expect_two_ranks_on_record();
}

TEST_F(LaunchedRanks, OneThatDoesNotComeIsNamedInTime) {
  const ProgramResult result =
      run_program(FLOPMARK_PROGRAM, placed({"--set", kLimit}, variables(0, free_port())));
  EXPECT_EQ(result.exit_code, 125) << result.err;
  EXPECT_THAT(result.err, HasSubstr("rank 1"));
  EXPECT_EQ(record()["failure"]["rank"], 1);
}

TEST_F(LaunchedRanks, APortInUseIsNamed) {
  const UsedPort used;
  const ProgramResult result =
      run_program(FLOPMARK_PROGRAM, placed({"--set", kLimit}, variables(0, used.number)));
  EXPECT_EQ(result.exit_code, 200) << result.err;
  EXPECT_THAT(result.err, AllOf(HasSubstr(used.number), HasSubstr("in use"), HasSubstr("MASTER_PORT")));
}

TEST_F(LaunchedRanks, AMasterThatIsNotThereIsNamed) {
  const std::string port = free_port();
  const ProgramResult result = run_program(FLOPMARK_PROGRAM, placed({"--set", kLimit}, variables(1, port)));
  EXPECT_EQ(result.exit_code, 200) << result.err;
  EXPECT_THAT(result.err,
              AllOf(HasSubstr("rank 1: "), HasSubstr("127.0.0.1:" + port), Not(HasSubstr("rank 1: rank 1"))));
}

TEST_F(LaunchedRanks, AListenerThatSaysNothingDoesNotHang) {
  const UsedPort used;
  const ProgramResult result =
      run_program(FLOPMARK_PROGRAM, placed({"--set", kLimit}, variables(1, used.number)));
  EXPECT_EQ(result.exit_code, 200) << result.err;
  EXPECT_THAT(result.err, HasSubstr(used.number));
}

TEST_F(LaunchedRanks, ConfigsThatDifferAreListed) {
  const std::string port = free_port();
  RunningProgram first(FLOPMARK_PROGRAM, placed({"--set", kLimit}, variables(0, port)));
  RunningProgram other(FLOPMARK_PROGRAM,
                       placed({"--set", kLimit, "--set", "data.batch_size=4"}, variables(1, port)));
  for (RunningProgram* program : {&first, &other}) {
    const ProgramResult result = program->wait();
    EXPECT_EQ(result.exit_code, 200) << result.err;
    EXPECT_THAT(result.err, HasSubstr("batch_size"));
  }
  EXPECT_FALSE(std::filesystem::exists(record_file()));
}

}  // namespace
}  // namespace flopmark::testing
