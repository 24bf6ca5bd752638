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
  /// For a job that hangs: to load, that limit, to learn who it was, 10 s in which the first rank writes, and
  /// the machine's other work.
  static constexpr std::chrono::seconds kSpareTime{60};

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
  void expect_ranks_on_record(size_t ranks = 2) const {
    const nlohmann::json record = this->record();
    EXPECT_EQ(record["status"], "ok");
    EXPECT_EQ(record["ranks"].size(), ranks);
    EXPECT_EQ(record["config"]["parallel"]["ranks"], ranks);
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
  expect_ranks_on_record();
  EXPECT_EQ(record()["repeats"].size(), 3u);
}

TEST_F(LaunchedRanks, Mpirun) {
  const auto mpirun = program_named("mpirun");
  if (!mpirun) GTEST_SKIP() << "no mpirun: install openmpi-bin";
  const ProgramResult result = run_program(
      *mpirun,
      launched({"--allow-run-as-root", "--oversubscribe", "-n", "2"}, {"--set", "measure.repeats=2"}));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  expect_ranks_on_record();
}

TEST_F(LaunchedRanks, Torchrun) {
  const ProgramResult result =
      run_program(FLOPMARK_SMALL_TORCHRUN, launched({"2"}, {"--set", "measure.repeats=2"}));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  expect_ranks_on_record();
}

class RealTorchrun : public LaunchedRanks, public ::testing::WithParamInterface<int> {
 protected:
  /// That of the Python PyTorch which scripts/python-reference installs.
  static std::filesystem::path reference() {
    return std::filesystem::path(FLOPMARK_SOURCE_DIR) / ".deps" / "python";
  }
  /// What starts torchrun; empty where there is none.
  static std::vector<std::string> torchrun() {
    if (const auto installed = program_named("torchrun")) return {*installed};
    const std::filesystem::path script = reference() / "bin" / "torchrun";
    if (!std::filesystem::exists(script)) return {};
    return {"env", "PYTHONPATH=" + reference().string(), "python3", script.string()};
  }
};

TEST_P(RealTorchrun, StartsTheRanks) {
  std::vector<std::string> words = torchrun();
  if (words.empty()) GTEST_SKIP() << "no torchrun: scripts/python-reference installs one";
  const std::string program = words.front();
  words.erase(words.begin());
  words.insert(words.end(), {"--no-python", "--nproc-per-node", std::to_string(GetParam()), "--master-addr",
                             "127.0.0.1", "--master-port", free_port()});
  ProgramOptions options = launched(words, {"--set", "measure.repeats=2"});
  options.environment["OMP_NUM_THREADS"] = "1";
  const ProgramResult result = run_program(program, options);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("Samples/s"));
  expect_ranks_on_record(static_cast<size_t>(GetParam()));
  EXPECT_EQ(record()["repeats"].size(), 2u);
}

INSTANTIATE_TEST_SUITE_P(Ranks, RealTorchrun, ::testing::Values(2, 4));

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
  expect_ranks_on_record();
}

TEST_F(LaunchedRanks, OneThatDoesNotComeIsNamedInTime) {
  const ProgramResult result =
      run_program(FLOPMARK_PROGRAM, placed({"--set", kLimit}, variables(0, free_port())));
  EXPECT_EQ(result.exit_code, 125) << result.err;
  EXPECT_THAT(result.err, HasSubstr("rank 1"));
  EXPECT_EQ(record()["failure"]["rank"], 1);
}

// Nobody but its own front-end can end a rank of a job that was started by hand: the others end without it.
TEST_F(LaunchedRanks, ByHandOneThatIsStoppedIsEndedInTime) {
  const std::string port = free_port();
  const std::vector<std::string> more{"--set", kLimit, "--set", "measure.steps=100000"};
  RunningProgram first(FLOPMARK_PROGRAM, placed(more, variables(0, port)));
  RunningProgram other(FLOPMARK_PROGRAM, placed(more, variables(1, port)));
  ASSERT_TRUE(holds_soon([&] { return workers().size() == 2; }));
  std::this_thread::sleep_for(std::chrono::seconds(5));
  const auto pid = worker_of(1);
  ASSERT_TRUE(pid);
  ::kill(*pid, SIGSTOP);
  const auto begin = std::chrono::steady_clock::now();
  const ProgramResult its = other.wait(), firsts = first.wait();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, kSpareTime);
  EXPECT_TRUE(workers().empty());
  EXPECT_EQ(its.exit_code, 125) << its.err;
  EXPECT_THAT(its.err, AllOf(HasSubstr("timeout: rank 1 on "), HasSubstr("hung in phase "),
                             HasSubstr("nothing was heard of it for 9 s")));
  EXPECT_EQ(firsts.exit_code, 125) << firsts.err;
  const nlohmann::json failure = record()["failure"];
  EXPECT_EQ(failure["kind"], "peer_lost") << failure;
  EXPECT_EQ(failure["rank"], 1) << failure;
  EXPECT_NE(failure["host"], "") << failure;
}

TEST_F(LaunchedRanks, ByHandOneThatHangsInItsOwnCodeIsEndedInTime) {
  for (const int hung : {0, 1}) {
    const std::string port = free_port(), rank = std::to_string(hung);
    const std::vector<std::string> more = with_fault({"--set", kLimit, "--force"});
    std::map<std::string, std::string> fault{{"FLOPMARK_FAULT", "hang@timed:7"},
                                             {"FLOPMARK_FAULT_RANK", rank}};
    fault.merge(variables(0, port));
    RunningProgram first(FLOPMARK_PROGRAM, placed(more, fault));
    for (const auto& [name, value] : variables(1, port)) fault[name] = value;
    RunningProgram other(FLOPMARK_PROGRAM, placed(more, fault));
    const auto begin = std::chrono::steady_clock::now();
    const ProgramResult others = other.wait(), firsts = first.wait();
    EXPECT_LT(std::chrono::steady_clock::now() - begin, kSpareTime);
    EXPECT_TRUE(workers().empty());
    const ProgramResult& its = hung == 0 ? firsts : others;
    EXPECT_EQ(firsts.exit_code, 125) << firsts.err;
    EXPECT_EQ(others.exit_code, 125) << others.err;
    EXPECT_THAT(its.err, AllOf(HasSubstr("timeout: rank " + rank + " on "),
                               HasSubstr("stood still in timed step 7 for 5 s (parallel.timeout_s)")));
    const nlohmann::json failure = record()["failure"];
    EXPECT_EQ(failure["kind"], hung == 0 ? "timeout" : "peer_lost") << failure;
    EXPECT_EQ(failure["rank"], hung) << failure;
    EXPECT_EQ(failure["phase"], "timed") << failure;
  }
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

// It never comes, and says so: the other need not wait for the 30 s of the meeting.
TEST_F(LaunchedRanks, OneThatCannotComeTellsTheOthers) {
  for (const int wrong : {0, 1}) {
    const std::string port = free_port(), limit = "parallel.timeout_s=40";
    const auto with = [&](int rank) {
      std::vector<std::string> more{"--set", limit, "--force"};
      if (rank == wrong) more.insert(more.end(), {"--set", "device=cuda"});
      std::map<std::string, std::string> environment = variables(rank, port);
      environment["CUDA_VISIBLE_DEVICES"] = "";
      return placed(more, environment);
    };
    const auto begin = std::chrono::steady_clock::now();
    RunningProgram first(FLOPMARK_PROGRAM, with(0)), other(FLOPMARK_PROGRAM, with(1));
    const ProgramResult firsts = first.wait(), others = other.wait();
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(25));
    const auto& [its, heard] = wrong == 0 ? std::pair(firsts, others) : std::pair(others, firsts);
    EXPECT_EQ(its.exit_code, 200) << its.err;
    EXPECT_THAT(its.err, HasSubstr("device: \"cuda\", but there are 0 CUDA devices"));
    EXPECT_EQ(heard.exit_code, 125) << heard.err;
    EXPECT_THAT(heard.err,
                AllOf(HasSubstr("rank " + std::to_string(wrong) + " (host "),
                      HasSubstr(") failed in phase load: device: \"cuda\", but there are 0 CUDA devices")));
  }
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
