#include "bisect/journal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "flopmark/error.h"
#include "unit/bisect/journal_folder.h"

namespace flopmark {
namespace {

using ::testing::HasSubstr;

CommitBuild example_build() {
  CommitBuild build;
  build.built = true;
  build.artifact_hash = "0123abcd";
  build.took_s = 12.5;
  build.notes = {"nothing made it anew: \"odd\" \xff"};
  return build;
}

PairedEvidence example_evidence() {
  PairedEvidence evidence;
  evidence.end = PairedEnd::decided;
  evidence.pairs = {{0.1, 1.0 / 3, -2e-9}, {0.05, 0, 1}};
  evidence.disturbed_pairs = 1;
  evidence.took_s = 33;
  evidence.phases.push_back({"forward", 0.1, 0.2, 0.1, 0.09, std::nullopt, 0.5, true});
  evidence.operators.push_back({"aten::mm", 3, 4, 1000, 2000});
  return evidence;
}

ComparisonRequest request_of(size_t attempt = 1) {
  ComparisonRequest request;
  request.a = "aaaa";
  request.b = "bbbb";
  request.rule.mid_ratio = 0.025;
  request.attempt = attempt;
  return request;
}

std::string refusal(const std::function<void()>& call, ExitCode code) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code);
    return error.what();
  }
  return "not refused";
}

class JournalTest : public JournalFolder {
 protected:
  void keep_example() const {
    Journal journal = Journal::begin(path_, subject_);
    journal.add("bbbb", example_build());
    journal.add(request_of(), example_evidence());
  }
};

TEST_F(JournalTest, GivesBackWhatItWasGiven) {
  keep_example();
  const Journal journal = Journal::resume(path_, subject_);
  const CommitBuild* build = journal.build_of("bbbb");
  ASSERT_NE(build, nullptr);
  EXPECT_TRUE(build->built);
  EXPECT_EQ(build->artifact_hash, "0123abcd");
  EXPECT_EQ(build->took_s, 12.5);
  EXPECT_EQ(build->notes.size(), 1U);
  const PairedEvidence* evidence = journal.evidence_of(request_of());
  ASSERT_NE(evidence, nullptr);
  EXPECT_EQ(evidence->end, PairedEnd::decided);
  EXPECT_EQ(evidence->disturbed_pairs, 1U);
  EXPECT_EQ(evidence->took_s, 33);
  ASSERT_EQ(evidence->pairs.size(), 2U);
  EXPECT_EQ(evidence->pairs[0].typical, 1.0 / 3);  // to the last bit
  EXPECT_EQ(evidence->pairs[0].floor, -2e-9);
  ASSERT_EQ(evidence->phases.size(), 1U);
  EXPECT_EQ(evidence->phases[0].ci95_low_s, 0.09);
  EXPECT_EQ(evidence->phases[0].ci95_high_s, std::nullopt);
  EXPECT_TRUE(evidence->phases[0].changed);
  ASSERT_EQ(evidence->operators.size(), 1U);
  EXPECT_EQ(evidence->operators[0].hardware_flop_b, 2000);
  EXPECT_EQ(journal.build_of("aaaa"), nullptr);
  EXPECT_EQ(journal.evidence_of(request_of(2)), nullptr);
}

TEST_F(JournalTest, AFailureComesBack) {
  PairedEvidence failed;
  failed.end = PairedEnd::failed;
  failed.failure = SideFailure{"b", 3, {"out_of_memory", "timed", 7, "no memory"}};
  Journal::begin(path_, subject_).add(request_of(), failed);
  const Journal journal = Journal::resume(path_, subject_);
  const PairedEvidence* evidence = journal.evidence_of(request_of());
  ASSERT_TRUE(evidence != nullptr && evidence->failure);
  EXPECT_EQ(evidence->failure->pair, 3U);
  EXPECT_EQ(evidence->failure->failure.kind, "out_of_memory");
  EXPECT_EQ(evidence->failure->failure.step, 7);
}

TEST_F(JournalTest, OnlyABuildThatWouldFailAgainIsOnFile) {
  Journal journal = Journal::begin(path_, subject_);
  CommitBuild broken;
  broken.why_not = "`make` ended with exit code 2";
  CommitBuild late = broken;
  late.lasting = false;
  journal.add("aaaa", broken);
  journal.add("bbbb", late);
  EXPECT_NE(journal.build_of("bbbb"), nullptr);  // this run does not try it again
  journal = Journal();
  const Journal resumed = Journal::resume(path_, subject_);
  EXPECT_NE(resumed.build_of("aaaa"), nullptr);
  EXPECT_EQ(resumed.build_of("bbbb"), nullptr);
}

TEST_F(JournalTest, BytesThatAreNoTextAreStillTheSame) {
  const JournalSubject odd{{"build command", "make \xff"}};
  Journal::begin(path_, odd);
  EXPECT_NO_THROW(Journal::resume(path_, odd));
}

TEST_F(JournalTest, WithoutAFileItKeepsWhatThisRunDid) {
  Journal journal;
  journal.add("bbbb", example_build());
  EXPECT_NE(journal.build_of("bbbb"), nullptr);
}

TEST_F(JournalTest, EveryCutOfTheLastLineIsTolerated) {
  keep_example();
  const std::string whole = text();
  const size_t last = whole.rfind('\n', whole.size() - 2) + 1;
  for (size_t size = last; size < whole.size(); size += 7) {
    write(whole.substr(0, size));
    Journal journal = Journal::resume(path_, subject_);
    EXPECT_NE(journal.build_of("bbbb"), nullptr);
    EXPECT_EQ(journal.evidence_of(request_of()), nullptr);
    journal.add(request_of(), example_evidence());
    EXPECT_EQ(text(), whole);
  }
  write(whole + std::string(100, '\0') + "\n");  // what a power cut can leave
  EXPECT_NE(Journal::resume(path_, subject_).evidence_of(request_of()), nullptr);
  EXPECT_EQ(text(), whole);
  write("{\"schema\":\"flopm");  // killed before the first line was whole
  Journal::resume(path_, subject_).add("bbbb", example_build());
  EXPECT_NE(Journal::resume(path_, subject_).build_of("bbbb"), nullptr);
}

TEST_F(JournalTest, ADamagedLineIsNamed) {
  keep_example();
  std::string damaged = text();
  damaged.replace(damaged.find("\"built\":true"), 12, "\"built\":7   ");
  write(damaged);
  const std::string why = refusal([&] { Journal::resume(path_, subject_); }, ExitCode::baseline);
  EXPECT_THAT(why, HasSubstr("journal.jsonl, line 2: key \"built\" must be"));
  EXPECT_EQ(text(), damaged);
}

TEST_F(JournalTest, IsOfOneBisectionOnly) {
  keep_example();
  const JournalSubject other{{"good commit", "aaaa"}, {"build command", "ninja"}};
  EXPECT_THAT(refusal([&] { Journal::resume(path_, other); }, ExitCode::usage),
              HasSubstr("of another bisection: build command was make, now ninja"));
  const JournalSubject more{{"good commit", "aaaa"}, {"build command", "make"}, {"machine", "m"}};
  EXPECT_THAT(refusal([&] { Journal::resume(path_, more); }, ExitCode::usage),
              HasSubstr("machine was absent, now m"));
  std::string newer = text();
  newer.replace(newer.find("bisect/1"), 8, "bisect/2");
  write(newer);
  EXPECT_THAT(refusal([&] { Journal::resume(path_, subject_); }, ExitCode::baseline),
              HasSubstr("\"flopmark.bisect/2\""));
}

TEST_F(JournalTest, ThereMustBeOneToResume) {
  EXPECT_THAT(refusal([&] { Journal::resume(path_, subject_); }, ExitCode::usage),
              HasSubstr("nothing to resume"));
}

TEST_F(JournalTest, TwoCannotWriteOne) {
  {
    const Journal journal = Journal::begin(path_, subject_);
    EXPECT_THAT(refusal([&] { Journal::resume(path_, subject_); }, ExitCode::usage),
                HasSubstr("another flopmark bisect"));
  }
  EXPECT_NO_THROW(Journal::resume(path_, subject_));
}

TEST_F(JournalTest, BeginsAnewInPlaceOfAnOldOne) {
  keep_example();
  EXPECT_EQ(Journal::begin(path_, subject_).build_of("bbbb"), nullptr);
  const std::string anew = text();
  EXPECT_EQ(std::count(anew.begin(), anew.end(), '\n'), 1);
}

}  // namespace
}  // namespace flopmark
