#include "unit/cli/cli_fixture.h"

namespace flopmark {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class BaselineCommandTest : public CliTest {
 protected:
  /// Runs once into record.json, which a .gitignore hides, and returns its name.
  std::string make_record(const std::vector<std::string>& more = {}, const std::string& mode = "ok") const {
    std::vector<std::string> arguments{"run",     "tiny.json", "--quiet",
                                       "--force", "--output",  "results/r.json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    flopmark(arguments, mode);
    return "results/r.json";
  }
};

TEST_F(BaselineCommandTest, SaveListShow) {
  make_repository();
  const auto saved = flopmark({"baseline", "save", make_record()});
  ASSERT_EQ(saved.exit_code, 0) << saved.err;
  EXPECT_THAT(saved.out, HasSubstr("baseline baselines/"));
  EXPECT_THAT(saved.out, HasSubstr("commit it: git add baselines\n"));
  const auto list = flopmark({"baseline", "list"});
  EXPECT_EQ(list.exit_code, 0) << list.err;
  EXPECT_THAT(list.out, HasSubstr("tiny"));
  const auto show = flopmark({"baseline", "show", "tiny"});
  EXPECT_EQ(show.exit_code, 0) << show.err;
  EXPECT_THAT(show.out, HasSubstr("10.00"));
  EXPECT_THAT(show.out, HasSubstr("record   baselines/"));
}

TEST_F(BaselineCommandTest, OneNameOnTwoHardwares) {
  make_repository();
  ASSERT_EQ(flopmark({"baseline", "save", make_record()}).exit_code, 0);
  std::string other = read("baselines/1x-fake-cpu/tiny.json");
  for (size_t at = other.find("Fake CPU"); at != std::string::npos; at = other.find("Fake CPU")) {
    other.replace(at, 8, "Fake GPU");
  }
  write("baselines/1x-fake-gpu/tiny.json", other);
  const std::string list = flopmark({"baseline", "list"}).out;
  EXPECT_THAT(list, HasSubstr("| 1 x Fake CPU | 1x-fake-cpu/tiny |"));
  EXPECT_THAT(list, HasSubstr("| 1 x Fake GPU | 1x-fake-gpu/tiny |"));
  const std::string both = flopmark({"baseline", "show", "tiny"}).out;
  EXPECT_THAT(both, HasSubstr("Fake CPU"));
  EXPECT_THAT(both, HasSubstr("Fake GPU"));
  const auto one = flopmark({"baseline", "show", "1x-fake-gpu/tiny"});
  EXPECT_EQ(one.exit_code, 0) << one.err;
  EXPECT_THAT(one.out, HasSubstr("Fake GPU"));
  EXPECT_THAT(one.out, Not(HasSubstr("Fake CPU")));
}

TEST_F(BaselineCommandTest, ACopyInAnotherHardwaresFolderIsReported) {
  make_repository();
  ASSERT_EQ(flopmark({"baseline", "save", make_record()}).exit_code, 0);
  write("baselines/1x-other/tiny.json", read("baselines/1x-fake-cpu/tiny.json"));
  const auto list = flopmark({"baseline", "list"});
  EXPECT_EQ(list.exit_code, 202);
  EXPECT_THAT(list.out, Not(HasSubstr("1x-other")));
  EXPECT_THAT(list.err, HasSubstr("1x-other/tiny.json: holds the baseline of 1x-fake-cpu/tiny"));
}

TEST_F(BaselineCommandTest, SavingWarnsOfAnotherDamagedBaseline) {
  make_repository();
  write("baselines/1x-other/bad.json", "{");
  const auto saved = flopmark({"baseline", "save", make_record()});
  EXPECT_EQ(saved.exit_code, 0) << saved.err;
  EXPECT_THAT(saved.err, HasSubstr("flopmark: warning: "));
  EXPECT_THAT(saved.err, HasSubstr("bad.json: is not whole JSON"));
  EXPECT_EQ(read("baselines/1x-other/bad.json"), "{");
  EXPECT_EQ(baselines().size(), 2u);
}

TEST_F(BaselineCommandTest, ShowReadsAnyRecordFile) {
  const auto show = flopmark({"baseline", "show", make_record({}, "oom")});
  EXPECT_EQ(show.exit_code, 0) << show.err;
  EXPECT_THAT(show.out,
              HasSubstr("\nFAILED: out_of_memory: out of memory: 1 GiB asked for (in phase timed, step 7"));
}

TEST_F(BaselineCommandTest, AStoreThatIsNoFolderIsRefused) {
  for (const std::string command : {"list", "show"}) {
    std::vector<std::string> arguments{"baseline", command, "--store", "missing"};
    if (command == "show") arguments.push_back("tiny");
    const auto result = flopmark(arguments);
    EXPECT_EQ(result.exit_code, 200) << command;
    EXPECT_EQ(result.err, "flopmark: error: --store missing: no such folder; check the path\n");
  }
  EXPECT_EQ(flopmark({"baseline", "list", "--store", "tiny.json"}).exit_code, 200);
  EXPECT_EQ(flopmark({"baseline", "list", "--store", ""}).exit_code, 200);
  EXPECT_EQ(flopmark({"baseline", "save", make_record(), "--store", "no/such"}).exit_code, 200);
  EXPECT_FALSE(std::filesystem::exists(work_ / "no"));
}

TEST_F(BaselineCommandTest, AnEmptyStoreSaysHowToFillIt) {
  const auto list = flopmark({"baseline", "list"});
  EXPECT_EQ(list.exit_code, 0);
  EXPECT_EQ(list.out, "");
  EXPECT_THAT(list.err, HasSubstr("flopmark baseline save RECORD"));
}

TEST_F(BaselineCommandTest, UnknownNamesListTheKnownOnes) {
  EXPECT_THAT(flopmark({"baseline", "show", "tiny"}).err, HasSubstr("there are none"));
  make_repository();
  flopmark({"baseline", "save", make_record()});
  const auto result = flopmark({"baseline", "show", "tinny"});
  EXPECT_EQ(result.exit_code, 202);
  EXPECT_THAT(result.err, HasSubstr("no baseline \"tinny\" in baselines; there are: 1x-fake-cpu/tiny"));
}

TEST_F(BaselineCommandTest, OnlyOkRecordsAreSaved) {
  for (const std::string mode : {"oom", "ok"}) {
    const std::string record = make_record({"--set", "peak.flop_per_s=1e6"}, mode);
    const auto result = flopmark({"baseline", "save", record});
    EXPECT_EQ(result.exit_code, 202) << mode;
    EXPECT_THAT(files("baselines"), IsEmpty());
  }
}

TEST_F(BaselineCommandTest, DirtyTreesNeedForceAndAReason) {
  make_repository();
  write("tiny.json", config() + "\n");
  const std::string record = make_record();
  EXPECT_EQ(flopmark({"baseline", "save", record}).exit_code, 202);
  EXPECT_EQ(flopmark({"baseline", "save", record, "--force"}).exit_code, 200);
  EXPECT_EQ(flopmark({"baseline", "save", record, "--reason", "x"}).exit_code, 200);
  const auto forced = flopmark({"baseline", "save", record, "--force", "--reason", "only spaces"});
  EXPECT_EQ(forced.exit_code, 0) << forced.err;
}

TEST_F(BaselineCommandTest, FilesThatAreNoRecordsAre202) {
  write("empty.json", "");
  write("half.json", "{\"schema\": \"flopmark.record/1\", ");
  write("other.json", "{}");
  for (const std::string file : {"missing.json", "empty.json", "half.json", "other.json"}) {
    const auto result = flopmark({"baseline", "save", file});
    EXPECT_EQ(result.exit_code, 202) << file;
    EXPECT_THAT(result.err, HasSubstr(file));
  }
}

TEST_F(BaselineCommandTest, ADamagedBaselineIsListedAsAProblem) {
  make_repository();
  flopmark({"baseline", "save", make_record()});
  write("baselines/1x-other/bad.json", "{");
  const auto list = flopmark({"baseline", "list"});
  EXPECT_EQ(list.exit_code, 202);
  EXPECT_THAT(list.out, HasSubstr("tiny"));
  EXPECT_THAT(list.err, HasSubstr("bad.json"));
}

TEST_F(BaselineCommandTest, TheAnchorMovesWithARoleAndAReason) {
  make_repository();
  const std::string record = make_record();
  const std::vector<std::string> moving{"baseline", "save",     record,    "--role",
                                        "anchor",   "--reason", "new data"};
  EXPECT_THAT(flopmark(moving).err, HasSubstr("there is no baseline yet"));
  ASSERT_EQ(flopmark({"baseline", "save", record}).exit_code, 0);
  EXPECT_EQ(flopmark({"baseline", "save", record, "--role", "anchor"}).exit_code, 200);
  EXPECT_EQ(flopmark({"baseline", "save", record, "--role", "other", "--reason", "x"}).exit_code, 200);
  const auto moved = flopmark(moving);
  ASSERT_EQ(moved.exit_code, 0) << moved.err;
  EXPECT_THAT(moved.out, HasSubstr("anchor   baselines/1x-fake-cpu/tiny.anchor.json\n"));
  EXPECT_THAT(flopmark({"baseline", "list"}).out,
              HasSubstr("| 1 x Fake CPU | 1x-fake-cpu/tiny.anchor | llama-tiny |"));
  const auto both = flopmark({"baseline", "show", "tiny"});
  EXPECT_THAT(both.out, HasSubstr("record   baselines/1x-fake-cpu/tiny.json\n"));
  EXPECT_THAT(both.out, Not(HasSubstr("tiny.anchor.json")));
  EXPECT_THAT(flopmark({"baseline", "show", "tiny.anchor"}).out, HasSubstr("tiny.anchor.json"));
  EXPECT_EQ(flopmark({"compare", "tiny.anchor", "tiny"}).exit_code, 0);
}

TEST_F(BaselineCommandTest, TheTableIsMendedByWhateverLooksAtTheStore) {
  make_repository();
  ASSERT_EQ(flopmark({"baseline", "save", make_record()}).exit_code, 0);
  git({"add", "-A"});
  git({"commit", "-q", "-m", "baseline"});
  const std::string table = read("baselines/README.md");
  for (const std::vector<std::string>& command : std::vector<std::vector<std::string>>{
           {"baseline", "list"}, {"baseline", "show", "tiny"}, {"baseline", "diff", "tiny"}}) {
    write("baselines/README.md", "in pieces\n");
    EXPECT_EQ(flopmark(command).exit_code, 0) << command[1];
    EXPECT_EQ(read("baselines/README.md"), table) << command[1];
  }
}

TEST_F(BaselineCommandTest, AStoreThatCannotBeWrittenIsShownAllTheSame) {
  make_repository();
  ASSERT_EQ(flopmark({"baseline", "save", make_record()}).exit_code, 0);
  std::filesystem::remove(work_ / "baselines/README.md");
  std::filesystem::create_directory(work_ / "baselines/README.md");  // also for root, who may write anywhere
  const auto list = flopmark({"baseline", "list"});
  EXPECT_EQ(list.exit_code, 0) << list.err;
  EXPECT_THAT(list.out, HasSubstr("1x-fake-cpu/tiny"));
  EXPECT_THAT(list.err, HasSubstr("flopmark: warning: the table of baselines is as it was: "));
}

}  // namespace
}  // namespace flopmark
