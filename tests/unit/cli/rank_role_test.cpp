#include "cli/rank_role.h"

#include "unit/cli/cli_fixture.h"

namespace flopmark {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;
using JobVariables = std::map<std::string, std::string>;

/// One rank of a job of two, as its launcher starts it, with the fake worker.
class RankRoleTest : public CliTest {
 protected:
  static JobVariables rank(int rank, int ranks = 2) {
    return {{"RANK", std::to_string(rank)},       {"WORLD_SIZE", std::to_string(ranks)},
            {"LOCAL_RANK", std::to_string(rank)}, {"LOCAL_WORLD_SIZE", std::to_string(ranks)},
            {"MASTER_ADDR", "127.0.0.1"},         {"MASTER_PORT", "4711"}};
  }
  testing::ProgramResult start(std::vector<std::string> arguments, const JobVariables& variables,
                               const std::string& mode = "ok") const {
    testing::ProgramOptions all = options(std::move(arguments), mode);
    for (const auto& [name, value] : variables) all.environment[name] = value;
    all.environment["FAKE_ARGUMENTS_FILE"] = (folder_ / "arguments").string();
    return testing::run_program(FLOPMARK_PROGRAM, all);
  }
};

TEST_F(RankRoleTest, TheFirstRankWritesTheRecordOfAll) {
  const auto result = start({"run", "tiny.json"}, rank(0));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("Samples/s"));
  EXPECT_THAT(result.err, HasSubstr("launch 3/3"));
  const nlohmann::json record = only_record();
  EXPECT_EQ(record.at("config").at("parallel").at("ranks"), 2);
  EXPECT_EQ(record.at("environment").at("device_count"), 2);
  EXPECT_EQ(record.at("ranks").size(), 2u);
  const std::string arguments = read(folder_ / "arguments");
  for (const char* place : {"--master 127.0.0.1:4711 --meeting launch-0-1\n", "--meeting launch-0-3\n"}) {
    EXPECT_THAT(arguments, HasSubstr(place));
  }
}

TEST_F(RankRoleTest, AnotherRankMeasuresAndSaysNothing) {
  const auto result = start({"run", "tiny.json", "--output", "record.json", "--save-baseline"}, rank(1));
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(result.err, "");
  EXPECT_THAT(files("results"), IsEmpty());
  EXPECT_THAT(files("baselines"), IsEmpty());
  EXPECT_FALSE(std::filesystem::exists(work_ / "record.json"));
  EXPECT_THAT(read(folder_ / "arguments"), HasSubstr("--rank 1 --ranks 2 --local-rank 1 --local-ranks 2"));
}

TEST_F(RankRoleTest, AnotherRankNamesItselfInItsErrors) {
  const auto failed = start({"run", "tiny.json"}, rank(1), "oom");
  EXPECT_EQ(failed.exit_code, 125);
  EXPECT_EQ(failed.out, "");
  EXPECT_THAT(failed.err, AllOf(StartsWith("flopmark: error: rank 1: tiny: out_of_memory: rank 1 on "),
                                HasSubstr("in phase timed, step 7 of 20")));
  EXPECT_THAT(files("results"), IsEmpty());
  const auto refused = start({"run", "missing.json"}, rank(1));
  EXPECT_EQ(refused.exit_code, 200);
  EXPECT_THAT(refused.err, StartsWith("flopmark: error: rank 1: "));
}

TEST_F(RankRoleTest, TheFirstRankRecordsAFailure) {
  const auto result = start({"run", "tiny.json", "--quiet"}, rank(0), "survivor");
  EXPECT_EQ(result.exit_code, 125);
  EXPECT_THAT(result.err, HasSubstr("no word from rank 1"));
  const nlohmann::json record = only_record();
  EXPECT_EQ(record.at("status"), "failed");
  EXPECT_EQ(record.at("failure").at("kind"), "peer_lost");
  EXPECT_EQ(record.at("failure").at("rank"), 1);
  EXPECT_EQ(record.at("failure").at("host"), "fake-host");
}

TEST_F(RankRoleTest, AJobOfOneRankIsARunAsAnyOther) {
  EXPECT_EQ(start({"run", "tiny.json", "--quiet"}, rank(0, 1)).exit_code, 0);
  EXPECT_EQ(only_record().at("config").at("parallel").at("ranks"), 1);
  EXPECT_THAT(read(folder_ / "arguments"), Not(HasSubstr("--rank")));
}

TEST_F(RankRoleTest, AnotherNumberOfRanksInTheConfigIsRefused) {
  for (const int ranks : {1, 2}) {
    const auto result = start({"run", "tiny.json", "--set", "parallel.ranks=4"}, rank(0, ranks));
    EXPECT_EQ(result.exit_code, 200);
    EXPECT_THAT(result.err, HasSubstr("parallel.ranks is 4, but the launcher started " +
                                      std::string(ranks == 1 ? "1 rank;" : "2 ranks;")));
  }
  EXPECT_EQ(start({"run", "tiny.json", "--quiet", "--set", "parallel.ranks=2"}, rank(0)).exit_code, 0);
}

// Public case A32.
TEST_F(RankRoleTest, VariablesThatAreNotWholeAreRefused) {
  const JobVariables partly{{"RANK", "0"}, {"MASTER_ADDR", "127.0.0.1"}};
  for (const char* command : {"run", "check", "calibrate", "ab"}) {
    const auto result = start({command, "tiny.json"}, partly);
    EXPECT_EQ(result.exit_code, 200) << command;
    EXPECT_THAT(result.err, HasSubstr("not set: WORLD_SIZE, MASTER_PORT (set: RANK, MASTER_ADDR)"))
        << command;
  }
  EXPECT_THAT(files("results"), IsEmpty());
}

TEST_F(RankRoleTest, AloneInAnAllocationForSeveralItSaysSo) {
  const JobVariables batch{{"SLURM_JOB_ID", "77"}, {"SLURM_NTASKS", "4"}, {"SLURM_PROCID", "0"}};
  const auto result = start({"run", "tiny.json"}, batch);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("SLURM_NTASKS=4, but this process was not started by srun"));
  EXPECT_EQ(only_record().at("environment").at("device_count"), 1);
  EXPECT_THAT(start({"run", "tiny.json", "--quiet"}, batch).err, Not(HasSubstr("srun")));
  EXPECT_EQ(start({"run", "tiny.json"}, {{"PMI_RANK", "0"}}).exit_code, 200);
}

TEST_F(RankRoleTest, WhatMeasuresNothingIgnoresThem) {
  const JobVariables nonsense{{"RANK", "3"}, {"WORLD_SIZE", "2"}};
  for (const std::vector<std::string>& command : {std::vector<std::string>{"list"},
                                                  {"run", "tiny.json", "--dry-run"},
                                                  {"flops", "tiny.json"},
                                                  {"run", "--help-config"},
                                                  {"data", "--help"}}) {
    EXPECT_EQ(start(command, nonsense).exit_code, 0) << command.front();
  }
}

TEST_F(RankRoleTest, WhatStartsAllRanksItselfIsRefused) {
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"ab", "tiny.json"},
        {"calibrate", "tiny.json"},
        {"run", "tiny.json", "--scaling", "1,2"},
        {"check", "tiny.json", "--confirm", "--build", "true"},
        {"bisect", "tiny.json", "--good", "a", "--bad", "b", "--build", "true"}}) {
    const auto result = start(command, rank(0));
    EXPECT_EQ(result.exit_code, 200) << command.front();
    EXPECT_THAT(result.err, HasSubstr("flopmark " + command.front())) << command.front();
    EXPECT_THAT(result.err, HasSubstr("was started here as one of 2 ranks")) << command.front();
  }
}

TEST_F(RankRoleTest, TheFirstRankChecks) {
  make_repository();
  ASSERT_EQ(start({"run", "tiny.json", "--quiet", "--save-baseline"}, rank(0)).exit_code, 0);
  const auto first = start({"check", "tiny.json", "--quiet"}, rank(0));
  EXPECT_EQ(first.exit_code, 0) << first.out << first.err;
  const auto other = start({"check", "tiny.json"}, rank(1));
  EXPECT_EQ(other.exit_code, 0);
  EXPECT_EQ(other.out + other.err, "");
}

/// torchrun's store still holds what the ranks said before it started them again.
TEST_F(RankRoleTest, AJobThatIsStartedAgainMeetsAnew) {
  JobVariables again = rank(0);
  again["TORCHELASTIC_RESTART_COUNT"] = "2";
  EXPECT_EQ(start({"run", "tiny.json", "--quiet"}, again).exit_code, 0);
  EXPECT_THAT(read(folder_ / "arguments"), HasSubstr("--meeting launch-2-1\n"));
}

TEST_F(RankRoleTest, SeveralRanksAreComparedInWholeLaunches) {
  const auto result = start({"ab", "tiny.json", "--set", "parallel.ranks=2", "--set", "measure.repeats=1",
                             "--b.env", "FAKE_STEP_S=0.22", "--max-pairs", "8", "--seed", "1", "--quiet"},
                            {});
  EXPECT_EQ(result.exit_code, 1) << result.err;
  EXPECT_THAT(result.out, HasSubstr("whole launches in turn"));
  EXPECT_THAT(result.out, HasSubstr("the ranks of two jobs cannot take turns"));
  EXPECT_THAT(read(folder_ / "arguments"), Not(HasSubstr("--turns")));
}

}  // namespace
}  // namespace flopmark
