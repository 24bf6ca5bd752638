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

TEST_F(BaselineCommandTest, ShowReadsAnyRecordFile) {
  const auto show = flopmark({"baseline", "show", make_record({}, "oom")});
  EXPECT_EQ(show.exit_code, 0) << show.err;
  EXPECT_THAT(show.out,
              HasSubstr("\nFAILED: out_of_memory: out of memory: 1 GiB asked for (in phase timed, step 7"));
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
  EXPECT_THAT(result.err, HasSubstr("no baseline \"tinny\" in baselines; there are: tiny"));
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

}  // namespace
}  // namespace flopmark
