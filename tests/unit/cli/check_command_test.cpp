#include "cli/check_command.h"

#include <sstream>

#include "unit/cli/cli_fixture.h"

namespace flopmark {
namespace {

using nlohmann::json;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

constexpr const char* kBaseline = "baselines/1x-fake-cpu/tiny.json";
constexpr const char* kSittingsFolder = "baselines/1x-fake-cpu";
constexpr const char* kSittings = "baselines/1x-fake-cpu/tiny.sittings.jsonl";
constexpr const char* kAnchor = "baselines/1x-fake-cpu/tiny.anchor.json";

/// A repository whose tiny.json has a committed baseline of 0.2 s a step.
class CheckCommandTest : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    write(".gitignore", "/results/\n/*.txt\n");
    git({"init", "-q", "-b", "main"});
    commit_all();
  }
  void commit_all() const {
    git({"add", "-A"});
    git({"commit", "-q", "--allow-empty", "-m", "more"});
  }
  void save(const std::string& step_s) const {
    const auto saved = at_speed(step_s, {"run", "tiny.json", "--quiet", "--save-baseline"});
    ASSERT_EQ(saved.exit_code, 0) << saved.err;
    commit_all();
  }
  testing::ProgramResult at_speed(const std::string& step_s, std::vector<std::string> arguments,
                                  const std::string& mode = "ok") const {
    testing::ProgramOptions how = options(std::move(arguments), mode);
    how.environment["FAKE_STEP_S"] = step_s;
    return testing::run_program(FLOPMARK_PROGRAM, how);
  }
  testing::ProgramResult check(const std::string& step_s, std::vector<std::string> more = {},
                               const std::string& mode = "ok") const {
    more.insert(more.begin(), {"check", "tiny.json", "--quiet"});
    return at_speed(step_s, std::move(more), mode);
  }
  /// Refused with `code` before any launch: no record, and `text` in the message.
  void expect_refused(const testing::ProgramResult& result, int code, const std::string& text) const {
    EXPECT_EQ(result.exit_code, code) << text << result.err;
    EXPECT_THAT(result.err + result.out, HasSubstr(text));
    EXPECT_THAT(files("results/tiny"), ::testing::SizeIs(records_)) << "measured all the same: " << text;
  }
  /// Changes the committed baseline at a JSON pointer.
  void edit(const std::string& file, const std::string& pointer, const json& value) const {
    json edited = read_json(file);
    edited[json::json_pointer(pointer)] = value;
    write(file, edited.dump());
    commit_all();
  }

  std::vector<std::string> lines(const std::string& file) const {
    std::istringstream text(read(file));
    std::vector<std::string> all;
    for (std::string line; std::getline(text, line);) all.push_back(line);
    return all;
  }

  size_t records_ = 1;  ///< that save() left
};

TEST_F(CheckCommandTest, VerdictsHaveTheirExitCodes) {
  save("0.2");
  for (const auto& [step_s, verdict, code] :
       std::vector<std::tuple<std::string, std::string, int>>{{"0.2", "same", 0},
                                                              {"0.1", "faster", 0},
                                                              {"0.3", "slower, unconfirmed", 1},
                                                              {"0.23", "unsure, unconfirmed", 125}}) {
    const auto result = check(step_s);
    EXPECT_EQ(result.exit_code, code) << verdict << result.err;
    EXPECT_THAT(result.out, EndsWith("\ncheck    tiny: " + verdict + "\n"));
    EXPECT_THAT(result.out, HasSubstr("A  baselines/1x-fake-cpu/tiny.json ("));
    EXPECT_THAT(result.out, HasSubstr("B  results/tiny/"));
    const auto document = json::parse(check(step_s, {"--format", "json"}).out);
    EXPECT_EQ(document["schema"], "flopmark.check/1");
    EXPECT_EQ(document["exit_code"], code);
    EXPECT_THAT(verdict, StartsWith(document["verdict"].get<std::string>()));
    EXPECT_EQ(document["checks"][0]["baseline"]["schema"], "flopmark.comparison/1");
  }
  EXPECT_EQ(files("results/tiny").size(), 9u) << "every run has its record";
}

TEST_F(CheckCommandTest, UndecidedPassesIfAsked) {
  save("0.2");
  EXPECT_EQ(check("0.23", {"--undecided", "pass"}).exit_code, 0);
  EXPECT_EQ(check("0.23", {"--undecided", "fail"}).exit_code, 125);
  EXPECT_EQ(check("0.3", {"--undecided", "pass"}).exit_code, 1) << "slower is not undecided";
  EXPECT_EQ(check("0.2", {"--undecided", "pass"}, "oom").exit_code, 125) << "nor is a run that failed";
}

TEST_F(CheckCommandTest, UnconfirmedHasTheLineThatConfirms) {
  save("0.2");
  const std::string commit = read_json(kBaseline)["subject"]["commit"];
  const auto result = check("0.3", {"--set", "measure.steps=21"});
  EXPECT_THAT(result.out, HasSubstr("\nconfirm  flopmark ab tiny.json --set measure.steps=21 --a.ref " +
                                    commit.substr(0, 10) + " --b.ref "));
  const auto document = json::parse(check("0.3", {"--format", "json"}).out);
  EXPECT_THAT(document["checks"][0]["confirm"].get<std::string>(), StartsWith("flopmark ab tiny.json"));
  const auto markdown = check("0.3", {"--format", "markdown"});
  EXPECT_THAT(markdown.out, StartsWith("### tiny: slower, unconfirmed\n\n**slower**: "));
  EXPECT_THAT(markdown.out, HasSubstr("flopmark ab tiny.json --a.ref "));
  EXPECT_TRUE(json::parse(check("0.2", {"--format", "json"}).out)["checks"][0]["confirm"].is_null());
}

TEST_F(CheckCommandTest, WithoutABaselineItFailsBeforeMeasuringUnlessAskedOtherwise) {
  records_ = 0;
  expect_refused(
      check("0.2"), 202,
      "flopmark: error: tiny: no baseline for this hardware and config (" + std::string(kBaseline));
  const auto passed = check("0.2", {"--no-baseline", "pass"});
  EXPECT_EQ(passed.exit_code, 0) << passed.err;
  EXPECT_THAT(passed.out, HasSubstr("check    tiny: no baseline to judge by; passed"));
  EXPECT_THAT(baselines(), IsEmpty());
  EXPECT_EQ(check("0.2", {"--no-baseline", "pass"}, "oom").exit_code, 125);
  const auto saved = check("0.2", {"--no-baseline", "save", "--format", "json"});
  EXPECT_EQ(saved.exit_code, 0) << saved.err;
  EXPECT_THAT(saved.err, HasSubstr(kBaseline));
  EXPECT_TRUE(json::parse(saved.out)["verdict"].is_null());
  ASSERT_EQ(baselines().size(), 1u);
  EXPECT_EQ(check("0.3", {"--no-baseline", "save"}).exit_code, 1) << "there is one now";
}

TEST_F(CheckCommandTest, WhatCouldNotBeSavedIsToldBeforeMeasuring) {
  records_ = 0;
  expect_refused(check("0.2", {"--no-baseline", "save", "--set", "measure.repeats=2"}), 202,
                 "it has only 2 launches");
  write("tiny.json", config() + "\n");
  expect_refused(check("0.2", {"--no-baseline", "save"}), 202, "has changes that are not committed");
  EXPECT_THAT(baselines(), IsEmpty());
}

/// A37: passing is no saving.
TEST_F(CheckCommandTest, NothingIsSavedOnAPass) {
  save("0.2");
  const std::string before = read(kBaseline);
  for (const char* step_s : {"0.2", "0.1", "0.3"}) check(step_s);
  EXPECT_EQ(read(kBaseline), before);
  EXPECT_EQ(baselines().size(), 1u);
}

/// A sitting of the baseline's own build: the commit that brings the baseline changes nothing else.
TEST_F(CheckCommandTest, SittingsOfTheBaselinesBuildAreKeptIfAsked) {
  save("0.2");
  EXPECT_EQ(check("0.2").exit_code, 0);
  EXPECT_THAT(files(kSittingsFolder), ::testing::SizeIs(1)) << "not unless asked";
  const auto kept = check("0.3", {"--keep-sitting"});
  EXPECT_EQ(kept.exit_code, 1) << "a false alarm is a sitting too";
  EXPECT_THAT(kept.err, HasSubstr(std::string("tiny: kept as a sitting in ") + kSittings));
  EXPECT_THAT(lines(kSittings), ::testing::SizeIs(2)) << "with the baseline's own";
  check("0.21", {"--keep-sitting"});
  EXPECT_THAT(lines(kSittings), ::testing::SizeIs(3));
}

TEST_F(CheckCommandTest, OtherRunsAreNoSittings) {
  save("0.2");
  EXPECT_THAT(check("0.2", {"--keep-sitting", "--set", "measure.steps=21"}).err,
              HasSubstr("tiny: not kept as a sitting: its config is not that of"));
  write("code.c", "1");
  EXPECT_THAT(check("0.2", {"--keep-sitting"}).err,
              HasSubstr("its tree is not known to be that of a commit"));
  commit_all();
  EXPECT_THAT(check("0.2", {"--keep-sitting"}).err, HasSubstr("its files are not those that"));
  EXPECT_THAT(files(kSittingsFolder), ::testing::SizeIs(1));
  records_ = 4;
  expect_refused(check("0.2", {"--keep-sitting", "--baseline", "main"}), 200,
                 "--keep-sitting is of the store");
}

TEST_F(CheckCommandTest, SittingsOnFileMakeTheTolerance) {
  save("0.2");
  check("0.2", {"--keep-sitting"});
  std::string line = lines(kSittings).back(), text;
  const size_t time = line.find("2026-"), hour = line.find('T') + 1;
  line.replace(time, hour - time, "2026-01-01T");
  for (int i = 0; i < 9; ++i) {
    std::string one = line;
    one.replace(hour, 2, i < 5 ? "0" + std::to_string(2 * i) : std::to_string(2 * i));
    if (i == 8) one.replace(hour - 3, 2, "02");
    text += one + "\n";
  }
  write(kSittings, text);
  const auto result = check("0.201");
  EXPECT_EQ(result.exit_code, 1) << "sittings that were all equal allow for nothing" << result.out;
  EXPECT_THAT(result.out, Not(HasSubstr("uncalibrated")));
  write(kSittings, text + "{\n");
  records_ += 2;
  const auto bad = check("0.2");
  EXPECT_EQ(bad.exit_code, 202);
  EXPECT_THAT(bad.out + bad.err, HasSubstr("line 10 is no sitting"));
}

/// Each step is within what two sittings can differ by; the sum is not.
TEST_F(CheckCommandTest, TheAnchorCatchesCreep) {
  save("0.2");
  double step_s = 0.2;
  for (int i = 0; i < 10; ++i) save(std::to_string(step_s *= 1.03));
  ASSERT_EQ(baselines().size(), 2u);
  const auto result = check(std::to_string(step_s));
  EXPECT_EQ(result.exit_code, 1) << result.out;
  EXPECT_THAT(result.out, HasSubstr("\nagainst the anchor\n"));
  EXPECT_THAT(result.out,
              EndsWith("check    tiny: slower against the anchor, same against the baseline: small "
                       "changes have added up;\n         unconfirmed\n"));
  const auto document = json::parse(check(std::to_string(step_s), {"--format", "json"}).out);
  EXPECT_EQ(document["checks"][0]["baseline"]["verdict"], "same");
  EXPECT_EQ(document["checks"][0]["anchor"]["verdict"], "slower");
  EXPECT_EQ(document["verdict"], "slower");
  EXPECT_EQ(check(std::to_string(step_s), {"--baseline", kBaseline}).exit_code, 0) << "named: no anchor";

  ASSERT_EQ(flopmark({"baseline", "save", kBaseline, "--role", "anchor", "--reason", "accepted"}).exit_code,
            0);
  const auto moved = check(std::to_string(step_s));
  EXPECT_EQ(moved.exit_code, 0) << moved.out;
  EXPECT_THAT(moved.out, HasSubstr(std::string("\nanchor   ") + kAnchor));
}

TEST_F(CheckCommandTest, AnAnchorOfOtherWorkCountsForNothing) {
  save("0.2");
  save("0.19");
  edit(kAnchor, "/config/model/layers", 7);
  edit(kAnchor, "/metrics/samples_per_s", nullptr);
  const auto result = check("0.2");
  EXPECT_EQ(result.exit_code, 0) << result.out;
  EXPECT_THAT(result.out, HasSubstr("not_comparable: not the same on both sides: config.model.layers"));
}

TEST_F(CheckCommandTest, OtherWorkAndMachinesAreRefusedBeforeMeasuring) {
  save("0.2");
  const auto layers = check("0.2", {"--set", "model.layers=3"});
  expect_refused(layers, 201, "not_comparable: not the same on both sides: config.model.layers");
  const auto document = json::parse(check("0.2", {"--set", "data.batch_size=4", "--format", "json"}).out);
  EXPECT_EQ(document["verdict"], "not_comparable");
  EXPECT_TRUE(document["checks"][0]["record"].is_null());
  expect_refused(check("0.2", {"--set", "data.shuffle=false", "--strict"}), 201, "config.data.shuffle");
  EXPECT_EQ(check("0.2", {"--set", "data.shuffle=false"}).exit_code, 0);
  EXPECT_EQ(check("0.2", {"--set", "model.layers=3", "--allow", "config.model"}).exit_code, 0);
  records_ = 3;
  edit(kBaseline, "/environment/libtorch", "1.13.0");
  expect_refused(check("0.2"), 201, "environment.libtorch");
}

TEST_F(CheckCommandTest, ABaselineThatSaysNothingIsRefusedBeforeMeasuring) {
  save("0.2");
  for (const char* text : {"", "{", "{}", "[]"}) {
    write(kBaseline, text);
    expect_refused(check("0.2"), 202, kBaseline);
  }
  git({"checkout", "-q", kBaseline});
  for (const auto& [pointer, value] : std::vector<std::pair<std::string, json>>{
           {"/status", "failed"}, {"/repeats", json::array()}, {"/metrics/step_s/mean", 0.1}}) {
    json edited = read_json(kBaseline);
    edited[json::json_pointer(pointer)] = value;
    write(kBaseline, edited.dump());
    expect_refused(check("0.2"), 202, kBaseline);
    git({"checkout", "-q", kBaseline});
  }
  write(kAnchor, "{");
  expect_refused(check("0.2"), 202, kAnchor);
}

TEST_F(CheckCommandTest, StaleBaselinesWarnAndThenRefuse) {
  save("0.2");
  for (int i = 0; i < 2; ++i) commit_all();  // the one that has the baseline makes three
  const auto stale = check("0.2", {"--stale-commits", "2"});
  EXPECT_EQ(stale.exit_code, 0) << stale.err;
  EXPECT_THAT(stale.err, HasSubstr("flopmark: warning: baselines/1x-fake-cpu/tiny.json: 0 days and 3 commits "
                                   "old; stale from 90 days or 2 commits"));
  records_ = 2;
  expect_refused(check("0.2", {"--stale-commits", "1"}), 202, "stale from 90 days or 1 commit");
  EXPECT_EQ(check("0.2", {"--stale-commits", "0"}).err, "");
  EXPECT_EQ(check("0.2", {"--stale-commits", "1", "--baseline", kBaseline}).exit_code, 0) << "it was named";
  edit(kBaseline, "/time", "2020-01-01T00:00:00.000Z");
  records_ = 4;
  expect_refused(check("0.2"), 202, "days and");
  EXPECT_THAT(flopmark({"baseline", "list"}).err, HasSubstr("stale from 90 days or 500 commits"));
  EXPECT_EQ(flopmark({"baseline", "list", "--stale-days", "0"}).err, "");
  const std::string record = files("results/tiny").front().string();
  EXPECT_THAT(flopmark({"compare", "tiny", record}).err, HasSubstr("stale from 90 days"));
  EXPECT_EQ(flopmark({"compare", "tiny", record, "--stale-days", "0"}).err, "");
}

TEST_F(CheckCommandTest, BaselineIsAFileANameOrACommit) {
  save("0.2");
  save("0.1");
  for (const std::string& named :
       std::vector<std::string>{"HEAD~1", "main~1", "main~1:tiny", std::string("main~1:") + kBaseline}) {
    EXPECT_EQ(check("0.2", {"--baseline", named}).exit_code, 0) << named;
  }
  for (const std::string& named : std::vector<std::string>{"tiny", "main", "HEAD:tiny", kBaseline}) {
    EXPECT_EQ(check("0.2", {"--baseline", named}).exit_code, 1) << named;
  }
  records_ = 10;
  expect_refused(check("0.2", {"--baseline", "nowhere"}), 202,
                 "--baseline nowhere: neither a file or baseline");
  expect_refused(check("0.2", {"--baseline", "missing.json"}), 202, "missing.json");
  expect_refused(check("0.2", {"--baseline", "main~2"}), 202, "no such file in that commit");
}

TEST_F(CheckCommandTest, RunsThatFailCannotBeJudged) {
  save("0.2");
  for (const std::string mode : {"oom", "nan", "crash", "kill", "abort", "no_samples"}) {
    const auto result = check("0.2", {}, mode);
    EXPECT_EQ(result.exit_code, 125) << mode;
    EXPECT_THAT(result.out, StartsWith("check    tiny: not judged: ")) << mode;
  }
  const auto invalid = check("0.2", {"--set", "peak.flop_per_s=1e6"});
  EXPECT_EQ(invalid.exit_code, 125) << invalid.out;
  EXPECT_EQ(check("0.2", {}, "error200").exit_code, 200);
  EXPECT_EQ(baselines().size(), 1u);
}

TEST_F(CheckCommandTest, InterruptedIs130) {
  save("0.2");
  testing::RunningProgram program(FLOPMARK_PROGRAM, options({"check", "tiny.json"}, "slow"));
  ASSERT_TRUE(program.wait_for_error_text("timed")) << program.error_so_far();
  ::kill(program.pid(), SIGINT);
  const auto result = program.wait();
  EXPECT_EQ(result.exit_code, 130) << result.err;
  EXPECT_THAT(result.out, HasSubstr("check    tiny: interrupted: not judged"));
}

TEST_F(CheckCommandTest, OfSeveralConfigsTheGravestDecides) {
  write("other.json", config());
  commit_all();
  save("0.2");
  const auto missing = at_speed("0.2", {"check", "tiny.json", "other.json", "--quiet"});
  expect_refused(missing, 202, "other: no baseline");
  ASSERT_EQ(at_speed("0.3", {"run", "other.json", "--quiet", "--save-baseline"}).exit_code, 0);
  commit_all();
  const auto both = at_speed("0.3", {"check", "tiny.json", "other.json", "--quiet"});
  EXPECT_EQ(both.exit_code, 1) << both.err;
  EXPECT_THAT(both.out, HasSubstr("check    tiny: slower, unconfirmed\n\nA  "));
  EXPECT_THAT(both.out, EndsWith("check    other: same\n"));
  const auto document =
      json::parse(at_speed("0.3", {"check", "other.json", "tiny.json", "--quiet", "--format", "json"}).out);
  EXPECT_EQ(document["verdict"], "slower");
  ASSERT_EQ(document["checks"].size(), 2u);
  EXPECT_EQ(document["checks"][0]["exit_code"], 0);
  EXPECT_EQ(document["checks"][1]["exit_code"], 1);
}

TEST_F(CheckCommandTest, OptionsThatContradictAreRefused) {
  save("0.2");
  write("other.json", config());
  write("taken.txt", "precious");
  expect_refused(check("0.2", {"other.json", "--output", "x.txt"}), 200, "--output names one record");
  expect_refused(check("0.2", {"--output", "taken.txt"}), 200, "--force overwrites it");
  expect_refused(check("0.2", {"--force"}), 200, "--force has no use without --output");
  expect_refused(check("0.2", {"--baseline", "tiny", "--no-baseline", "pass"}), 200,
                 "--no-baseline has no use");
  expect_refused(check("0.2", {"--output", "/proc/x"}), 202, "cannot write ");
  expect_refused(check("0.2", {"--stale-days", "-1"}), 200, "--stale-days");
  expect_refused(check("0.2", {"--undecided", "maybe"}), 200, "--undecided");
  expect_refused(check("0.2", {"--baseline", ""}), 200, "--baseline");
  expect_refused(check("0.2", {"--worker", "/no/such"}), 200, "/no/such");
  EXPECT_EQ(read("taken.txt"), "precious");
  EXPECT_EQ(check("0.2", {"--output", "taken.txt", "--force"}).exit_code, 0);
  EXPECT_EQ(read_json("taken.txt")["status"], "ok");
}

}  // namespace
}  // namespace flopmark
