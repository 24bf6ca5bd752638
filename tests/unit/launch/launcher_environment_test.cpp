#include "launch/launcher_environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "flopmark/error.h"

namespace flopmark {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// The text of the Error 200; empty if there was none.
std::string refusal(const Variables& variables) {
  try {
    launcher_place(variables);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return error.what();
  }
  return "";
}

Variables by_hand() {
  return {{"RANK", "1"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "127.0.0.1"}, {"MASTER_PORT", "29500"}};
}

Variables with(Variables variables, const Variables& more) {
  for (const auto& [name, value] : more) variables[name] = value;
  return variables;
}

Variables open_mpi() {
  return {{"OMPI_COMM_WORLD_RANK", "1"},
          {"OMPI_COMM_WORLD_SIZE", "2"},
          {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
          {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"},
          {"OMPI_MCA_ess_base_jobid", "1122959361"}};
}

Variables slurm() {
  return {{"SLURM_JOB_ID", "77"},
          {"SLURM_STEP_ID", "0"},
          {"SLURM_PROCID", "3"},
          {"SLURM_NTASKS", "4"},
          {"SLURM_LOCALID", "1"},
          {"SLURM_NODEID", "1"},
          {"SLURM_STEP_NUM_NODES", "2"},
          {"SLURM_STEP_TASKS_PER_NODE", "2(x2)"},
          {"SLURM_STEP_NODELIST", "n[04-05]"}};
}

TEST(LauncherEnvironment, NothingSetIsNoLauncher) {
  EXPECT_FALSE(launcher_place({{"PATH", "/bin"}, {"HOME", "/root"}}));
  EXPECT_FALSE(launcher_place({{"RANK", ""}, {"WORLD_SIZE", ""}}));
}

// Public case A32: every combination of the four.
TEST(LauncherEnvironment, AllMissingNamesAreInOneMessage) {
  const Variables all = by_hand();
  for (unsigned chosen = 1; chosen < 15; ++chosen) {
    Variables some;
    std::vector<std::string> missing;
    unsigned bit = 1;
    for (const auto& [name, value] : all) {
      if ((chosen & bit) != 0) {
        some[name] = value;
      } else {
        missing.push_back(name);
      }
      bit <<= 1;
    }
    const std::string text = refusal(some);
    const std::string list = text.substr(0, text.find(" (set: "));
    for (const auto& [name, value] : some) EXPECT_THAT(list, Not(HasSubstr(name + ","))) << text;
    for (const std::string& name : missing) EXPECT_THAT(list, HasSubstr(name)) << chosen;
  }
}

TEST(LauncherEnvironment, ByHandOnThisHost) {
  const auto place = launcher_place(by_hand());
  ASSERT_TRUE(place);
  EXPECT_EQ(place->rank, 1);
  EXPECT_EQ(place->ranks, 2);
  EXPECT_EQ(place->local_rank, 1);
  EXPECT_EQ(place->local_ranks, 2);
  EXPECT_EQ(place->master_address, "127.0.0.1");
  EXPECT_EQ(place->master_port, 29500);
  EXPECT_FALSE(place->agent_store);
  EXPECT_EQ(place->meeting_file, "");
}

TEST(LauncherEnvironment, ByHandOnSeveralHostsIsOneRankEach) {
  const auto place = launcher_place(with(by_hand(), {{"MASTER_ADDR", "n04"}}));
  ASSERT_TRUE(place);
  EXPECT_EQ(place->rank, 1);
  EXPECT_EQ(place->local_rank, 0);
  EXPECT_EQ(place->local_ranks, 1);
}

TEST(LauncherEnvironment, Torchrun) {
  const auto place = launcher_place(with(by_hand(), {{"LOCAL_RANK", "1"},
                                                     {"LOCAL_WORLD_SIZE", "2"},
                                                     {"MASTER_ADDR", "n04"},
                                                     {"TORCHELASTIC_RUN_ID", "none"},
                                                     {"TORCHELASTIC_USE_AGENT_STORE", "True"}}));
  ASSERT_TRUE(place);
  EXPECT_EQ(place->local_rank, 1);
  EXPECT_EQ(place->local_ranks, 2);
  EXPECT_TRUE(place->agent_store);
  EXPECT_THAT(refusal(with(by_hand(), {{"LOCAL_WORLD_SIZE", "2"}})), HasSubstr("not set: LOCAL_RANK (set:"));
}

TEST(LauncherEnvironment, TheFiveVariablesOfPyTorchAreEnough) {
  const auto here = launcher_place(with(by_hand(), {{"LOCAL_RANK", "1"}}));
  ASSERT_TRUE(here);
  EXPECT_EQ(here->local_rank, 1);
  EXPECT_EQ(here->local_ranks, 2);
  const auto elsewhere = launcher_place(
      with(by_hand(), {{"RANK", "5"}, {"WORLD_SIZE", "8"}, {"LOCAL_RANK", "1"}, {"MASTER_ADDR", "n04"}}));
  ASSERT_TRUE(elsewhere);
  EXPECT_EQ(elsewhere->local_rank, 1);
  EXPECT_EQ(elsewhere->local_ranks, 2);  // at least
  EXPECT_THAT(refusal(with(by_hand(), {{"LOCAL_RANK", "0"}, {"LOCAL_WORLD_SIZE", "2"}})),
              HasSubstr("RANK=1 and LOCAL_RANK=0 contradict each other: all 2 ranks are on one host"));
}

TEST(LauncherEnvironment, OneRankIsAJobToo) {
  const auto place = launcher_place(with(by_hand(), {{"RANK", "0"}, {"WORLD_SIZE", "1"}}));
  ASSERT_TRUE(place);
  EXPECT_EQ(place->ranks, 1);
}

// Public case A32: nonsense is refused, all of it at once.
TEST(LauncherEnvironment, NonsenseIsRefused) {
  EXPECT_THAT(refusal(with(by_hand(), {{"RANK", "3"}})), HasSubstr("RANK=3 is not below WORLD_SIZE=2"));
  EXPECT_THAT(refusal(with(by_hand(), {{"WORLD_SIZE", "abc"}})),
              HasSubstr("WORLD_SIZE=abc is no whole number from 1"));
  EXPECT_THAT(refusal(with(by_hand(), {{"MASTER_PORT", "70000"}})),
              HasSubstr("MASTER_PORT=70000 is no whole number from 1 to 65535"));
  EXPECT_THAT(refusal(with(by_hand(), {{"MASTER_ADDR", "http://n04"}})), HasSubstr("MASTER_ADDR=http://n04"));
  EXPECT_THAT(refusal(with(by_hand(), {{"LOCAL_RANK", "2"}, {"LOCAL_WORLD_SIZE", "4"}})),
              HasSubstr("LOCAL_WORLD_SIZE=4 is more than WORLD_SIZE=2"));
  EXPECT_THAT(refusal({{"RANK", "-1"}, {"WORLD_SIZE", "2.5"}, {"MASTER_PORT", "0"}}),
              AllOf(HasSubstr("RANK=-1"), HasSubstr("WORLD_SIZE=2.5"), HasSubstr("MASTER_PORT=0"),
                    HasSubstr("not set: MASTER_ADDR")));
  EXPECT_THAT(refusal(with(by_hand(), {{"RANK", "1\x1b[31m"}})), Not(HasSubstr("\x1b")));
}

TEST(LauncherEnvironment, MpirunOnOneHostNeedsNoMaster) {
  const auto place = launcher_place(open_mpi());
  ASSERT_TRUE(place);
  EXPECT_EQ(place->rank, 1);
  EXPECT_EQ(place->local_ranks, 2);
  EXPECT_EQ(place->master_address, "127.0.0.1");
  EXPECT_GE(place->master_port, 10000);
  EXPECT_LT(place->master_port, 30000);
  EXPECT_EQ(place->master_port,
            launcher_place(with(open_mpi(), {{"OMPI_COMM_WORLD_RANK", "0"}}))->master_port);
  EXPECT_NE(place->master_port,
            launcher_place(with(open_mpi(), {{"OMPI_MCA_ess_base_jobid", "1122959362"}}))->master_port);
}

TEST(LauncherEnvironment, MpirunOverHostsAsksForTheMaster) {
  const Variables two_hosts = with(open_mpi(), {{"OMPI_COMM_WORLD_SIZE", "4"}});
  EXPECT_THAT(refusal(two_hosts), HasSubstr("not set: MASTER_ADDR (set: OMPI_COMM_WORLD_RANK"));
  const auto place = launcher_place(with(two_hosts, {{"MASTER_ADDR", "n04"}, {"MASTER_PORT", "4711"}}));
  ASSERT_TRUE(place);
  EXPECT_EQ(place->master_address, "n04");
  EXPECT_EQ(place->master_port, 4711);
  Variables partly = open_mpi();
  partly.erase("OMPI_COMM_WORLD_SIZE");
  EXPECT_THAT(refusal(partly), HasSubstr("not set: OMPI_COMM_WORLD_SIZE"));
}

TEST(LauncherEnvironment, MpichIsMpirunToo) {
  const auto place = launcher_place({{"PMI_RANK", "1"},
                                     {"PMI_SIZE", "2"},
                                     {"MPI_LOCALRANKID", "1"},
                                     {"MPI_LOCALNRANKS", "2"},
                                     {"MASTER_PORT", "4711"}});
  ASSERT_TRUE(place);
  EXPECT_EQ(place->rank, 1);
  EXPECT_EQ(place->master_address, "127.0.0.1");
}

TEST(LauncherEnvironment, SrunOverHosts) {
  const auto place = launcher_place(slurm());
  ASSERT_TRUE(place);
  EXPECT_EQ(place->rank, 3);
  EXPECT_EQ(place->ranks, 4);
  EXPECT_EQ(place->local_rank, 1);
  EXPECT_EQ(place->local_ranks, 2);
  EXPECT_EQ(place->master_address, "n04");
  EXPECT_GE(place->master_port, 10000);
}

TEST(LauncherEnvironment, SrunForOtherReasonsIsNoLauncher) {
  EXPECT_FALSE(launcher_place(with(slurm(), {{"SLURM_NTASKS", "1"}})));
  EXPECT_FALSE(launcher_place(with(slurm(), {{"SLURM_STEP_ID", "4294967291"}})));
}

/// As sbatch starts its script, on the first node.
Variables slurm_batch() {
  return {{"SLURM_JOB_ID", "77"},
          {"SLURM_NTASKS", "4"},
          {"SLURM_PROCID", "0"},
          {"SLURM_LOCALID", "0"},
          {"SLURM_NODEID", "0"}};
}

TEST(LauncherEnvironment, AnAllocationWithoutAStepIsNoLauncherAndSaysSo) {
  const Variables shell{{"SLURM_JOB_ID", "77"}, {"SLURM_NTASKS", "4"}};  // of salloc
  for (const Variables& variables :
       {slurm_batch(), shell, with(slurm_batch(), {{"SLURM_STEP_ID", "4294967291"}})}) {
    EXPECT_FALSE(launcher_place(variables));
    EXPECT_THAT(lone_process_note(variables).value_or(""),
                AllOf(HasSubstr("SLURM_NTASKS=4, but this process was not started by srun"),
                      HasSubstr("parallel.ranks")));
  }
  EXPECT_EQ(lone_process_note(with(slurm_batch(), {{"SLURM_NTASKS", "1"}})), std::nullopt);
  EXPECT_EQ(lone_process_note({{"SLURM_NTASKS", "4"}}), std::nullopt);
  EXPECT_EQ(lone_process_note(slurm()), std::nullopt);
  EXPECT_EQ(lone_process_note({{"PATH", "/bin"}}), std::nullopt);
}

/// They are one of several processes, each of which would measure and write a record.
TEST(LauncherEnvironment, ATaskWithoutItsStepIsRefused) {
  EXPECT_THAT(refusal(with(slurm_batch(), {{"SLURM_PROCID", "3"}})),
              HasSubstr("not set: SLURM_STEP_ID (set: SLURM_PROCID, SLURM_NTASKS"));
  EXPECT_THAT(refusal({{"SLURM_PROCID", "0"}}),
              HasSubstr("not set: SLURM_STEP_ID, SLURM_NTASKS, SLURM_LOCALID (set: SLURM_PROCID)"));
  EXPECT_EQ(refusal({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "1"}}), "");
  EXPECT_EQ(refusal(with(slurm_batch(), with(by_hand(), {{"SLURM_PROCID", "3"}}))), "") << "set by hand";
}

TEST(LauncherEnvironment, HalfOfMpichIsRefused) {
  EXPECT_THAT(refusal({{"PMI_RANK", "1"}}),
              HasSubstr("not set: PMI_SIZE, MPI_LOCALRANKID, MPI_LOCALNRANKS (set: PMI_RANK)"));
  EXPECT_THAT(refusal({{"PMI_SIZE", "2"}}),
              HasSubstr("not set: PMI_RANK, MPI_LOCALRANKID, MPI_LOCALNRANKS (set: PMI_SIZE)"));
  EXPECT_THAT(refusal({{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}}),
              HasSubstr("not set: MPI_LOCALRANKID, MPI_LOCALNRANKS (set: PMI_RANK, PMI_SIZE)"));
  EXPECT_FALSE(launcher_place({{"PMI_RANK", "0"}, {"PMI_SIZE", "1"}})) << "alone";
  EXPECT_EQ(launcher_place(with(slurm(), {{"PMI_RANK", "3"}}))->ranks, 4) << "srun sets it, too";
  EXPECT_FALSE(launcher_place(with(slurm(), {{"SLURM_NTASKS", "1"}, {"PMI_RANK", "0"}})));
}

TEST(LauncherEnvironment, ContradictionsAreNamed) {
  EXPECT_THAT(refusal(with(open_mpi(), with(by_hand(), {{"WORLD_SIZE", "4"}}))),
              AllOf(HasSubstr("RANK=1 and WORLD_SIZE=4 (torchrun)"), HasSubstr("contradict"),
                    HasSubstr("OMPI_COMM_WORLD_RANK=1 and OMPI_COMM_WORLD_SIZE=2 (mpirun)")));
  EXPECT_EQ(refusal(with(open_mpi(), by_hand())), "");
  const auto by_slurm = launcher_place(with(slurm(), with(by_hand(), {{"RANK", "3"}, {"WORLD_SIZE", "4"}})));
  ASSERT_TRUE(by_slurm);
  EXPECT_EQ(by_slurm->local_rank, 1);
}

TEST(LauncherEnvironment, ALauncherMayStartAnother) {
  // srun starts torchrun's agents, one per host; mpirun starts its helpers by srun.
  const auto torchrun = launcher_place(
      with(slurm(),
           with(by_hand(), {{"LOCAL_RANK", "1"}, {"LOCAL_WORLD_SIZE", "2"}, {"TORCHELASTIC_RUN_ID", "1"}})));
  ASSERT_TRUE(torchrun);
  EXPECT_EQ(torchrun->ranks, 2);
  const auto mpirun = launcher_place(with(slurm(), open_mpi()));
  ASSERT_TRUE(mpirun);
  EXPECT_EQ(mpirun->ranks, 2);
}

}  // namespace
}  // namespace flopmark
