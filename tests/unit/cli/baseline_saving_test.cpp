#include "cli/baseline_saving.h"

#include "unit/cli/cli_fixture.h"

namespace flopmark {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr const char* kSaved = "baselines/1x-fake-cpu/tiny.json";

class BaselineSavingTest : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    write(".gitignore", "/results/\n");
    git({"init", "-q", "-b", "main"});
    commit_all();
  }
  void commit_all() const {
    git({"add", "-A"});
    git({"commit", "-q", "-m", "more"});
  }
  testing::ProgramResult save(const std::string& step_s, std::vector<std::string> more = {}) const {
    more.insert(more.begin(), {"run", "tiny.json", "--quiet", "--save-baseline"});
    testing::ProgramOptions how = options(std::move(more));
    how.environment["FAKE_STEP_S"] = step_s;
    return testing::run_program(FLOPMARK_PROGRAM, how);
  }
};

/// A37: a regressed run does not replace the baseline.
TEST_F(BaselineSavingTest, ASlowerRecordIsRefusedWithOneUnlessForced) {
  ASSERT_EQ(save("0.2").exit_code, 0);
  commit_all();
  const std::string before = read(kSaved);
  const auto slower = save("0.3");
  EXPECT_EQ(slower.exit_code, 1) << slower.err;
  EXPECT_THAT(slower.err, HasSubstr("baseline \"tiny\" not saved: slower than the present one, " +
                                    std::string(kSaved) + ": mean step time is 50.0 % longer"));
  EXPECT_EQ(read(kSaved), before);
  EXPECT_EQ(flopmark({"baseline", "save", files("results/tiny").back().string()}).exit_code == 1,
            read_json(files("results/tiny").back())["metrics"]["step_s"]["mean"] > 0.25)
      << "as by hand";
  const auto forced = save("0.3", {"--force", "--reason", "dropout"});
  EXPECT_EQ(forced.exit_code, 0) << forced.err;
  EXPECT_EQ(read_json(kSaved)["forced"]["reason"], "dropout");
}

TEST_F(BaselineSavingTest, UnsureIsSavedWithAWarning) {
  ASSERT_EQ(save("0.2").exit_code, 0);
  commit_all();
  const auto unsure = save("0.23");
  EXPECT_EQ(unsure.exit_code, 0) << unsure.err;
  EXPECT_THAT(unsure.err,
              HasSubstr("flopmark: warning: against the present baseline, " + std::string(kSaved)));
  EXPECT_THAT(unsure.out,
              HasSubstr("\nanchor   baselines/1x-fake-cpu/tiny.anchor.json: the baseline that was "
                        "replaced; it only moves by hand\n"));
}

TEST_F(BaselineSavingTest, OtherWorkReplacesItAndIsNoAnchorOfIt) {
  ASSERT_EQ(save("0.2").exit_code, 0);
  commit_all();
  const auto other = save("0.4", {"--set", "model.layers=3"});
  EXPECT_EQ(other.exit_code, 0) << other.err;
  EXPECT_THAT(other.out, Not(HasSubstr("anchor ")));
  EXPECT_EQ(baselines().size(), 1u);
}

TEST_F(BaselineSavingTest, ADamagedOneIsNotJudgedBy) {
  write(kSaved, "{");
  commit_all();
  const auto saved = save("0.4");
  EXPECT_EQ(saved.exit_code, 0) << saved.err;
  EXPECT_THAT(saved.err, HasSubstr("warning: the present baseline is not judged against: "));
  EXPECT_EQ(baselines().size(), 1u);
}

TEST_F(BaselineSavingTest, ARecordThatContradictsItselfIsNotSavedEvenByForce) {
  ASSERT_EQ(flopmark({"run", "tiny.json", "--quiet"}).exit_code, 0);
  const std::string file = files("results/tiny").front().string();
  nlohmann::json edited = read_json(file);
  edited["metrics"]["step_s"]["mean"] = 0.1;
  write("results/edited.json", edited.dump());
  const auto refused =
      flopmark({"baseline", "save", "results/edited.json", "--force", "--reason", "I like it so"});
  EXPECT_EQ(refused.exit_code, 202);
  EXPECT_THAT(refused.err, HasSubstr("contradicts itself"));
  EXPECT_THAT(baselines(), IsEmpty());
}

TEST_F(BaselineSavingTest, TooFewLaunchesAreToldBeforeMeasuring) {
  const auto few = save("0.2", {"--set", "measure.repeats=2"});
  EXPECT_EQ(few.exit_code, 202);
  EXPECT_THAT(few.err, HasSubstr("it has only 2 launches"));
  EXPECT_THAT(files("results"), IsEmpty());
}

}  // namespace
}  // namespace flopmark
