#include "results/baseline_store.h"

#include <gmock/gmock.h>

#include <chrono>

#include "fakes/example_record.h"
#include "flopmark/error.h"
#include "results/record_file.h"
#include "unit/results/scratch_tree.h"

namespace flopmark {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::MatchesRegex;
using testing::Not;

RunRecord named(const std::string& name) {
  RunRecord record = example_record();
  record.name = name;
  return record;
}

std::string refusal(const Store& store, const RunRecord& record, const SaveOptions& options = {}) {
  try {
    save_baseline(store, record, options);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::baseline);
    return error.what();
  }
  return "saved";
}

TEST(FindStore, IsTheTopOfTheTreeThatHoldsTheConfig) {
  const ScratchTree tree;
  const fs::path config = tree.write("configs/deep/tiny.json", "{}");
  EXPECT_EQ(find_store("", config).root, tree.root());
  EXPECT_EQ(find_store("", tree.root() / "missing.json").root, tree.root());
}

TEST(FindStore, IsTheCurrentFolderOutsideATree) {
  const ScratchFolder folder;
  EXPECT_EQ(find_store("", folder.write("tiny.json", "{}")).root, fs::current_path());
}

TEST(FindStore, GivenGoesFirst) {
  const ScratchTree tree;
  EXPECT_EQ(find_store("/some/where/../place", tree.root() / "x.json").root, "/some/place");
  EXPECT_EQ(find_store("here", tree.root() / "x.json").root, fs::current_path() / "here");
}

TEST(StorePaths, OfResultsAndBaselines) {
  const Store store{"/store"};
  RunRecord record = example_record();
  EXPECT_THAT(record_path(store, record).string(),
              MatchesRegex("/store/results/llama-1b-h200/20261130T055512\\.123Z-[0-9]+-0123456789ab\\.json"));
  EXPECT_EQ(baseline_path(store, record), "/store/baselines/8x-nvidia-h200/llama-1b-h200.json");
  record.subject.commit.reset();
  EXPECT_THAT(record_path(store, record).string(), testing::EndsWith("-nogit.json"));
}

TEST(StorePaths, NeverLeaveTheStore) {
  const Store store{"/store"};
  for (const char* name : {"../evil", "/etc/x", "", "..", "a/b"}) {
    EXPECT_THROW(record_path(store, named(name)), Error) << name;
    EXPECT_THROW(baseline_path(store, named(name)), Error) << name;
  }
  RunRecord record = example_record();
  record.time = "../../x";
  record.subject.commit = "../../../y";
  record.environment.device_name = "../../z";
  EXPECT_EQ(record_path(store, record).lexically_normal(), record_path(store, record));
  EXPECT_EQ(baseline_path(store, record), "/store/baselines/8x-..-..-z/llama-1b-h200.json");
}

TEST(SaveBaseline, WritesItWithoutRawStepsAndTheTable) {
  const ScratchTree tree;
  const Store store{tree.root()};
  const fs::path path = save_baseline(store, example_record(), {}).path;
  EXPECT_EQ(path, tree.root() / "baselines/8x-nvidia-h200/llama-1b-h200.json");
  const RunRecord saved = read_record(path);
  EXPECT_TRUE(saved.repeats[0].step_s.empty());
  EXPECT_EQ(saved.repeats[0].block_means_s, (std::vector<double>{0.25, 0.251235}));
  EXPECT_FALSE(saved.forced_reason.has_value());
  EXPECT_THAT(file_text(tree.root() / "baselines/README.md"),
              HasSubstr("| 8 x NVIDIA H200 | 8x-nvidia-h200/llama-1b-h200 |"));
}

TEST(SaveBaseline, OnlyOkIsSavedEvenByForce) {
  const ScratchTree tree;
  for (const char* status : {"invalid", "failed", "incomplete"}) {
    RunRecord record = example_record();
    record.status = status;
    EXPECT_THAT(refusal({tree.root()}, record), HasSubstr(std::string("status is ") + status));
    EXPECT_THAT(refusal({tree.root()}, record, {true, "I insist"}), HasSubstr("forced or not"));
  }
  EXPECT_FALSE(fs::exists(tree.root() / "baselines"));
}

TEST(SaveBaseline, RefusesATreeThatIsNotKnownToBeClean) {
  const ScratchTree tree;
  RunRecord record = example_record();
  record.subject.dirty = true;
  EXPECT_THAT(refusal({tree.root()}, record), HasSubstr("changes that are not committed"));
  record.subject.dirty.reset();
  record.subject.reason = "index is broken";
  EXPECT_THAT(refusal({tree.root()}, record), HasSubstr("index is broken"));
  record.subject.commit.reset();
  record.subject.reason = "could not find repository";
  EXPECT_THAT(refusal({tree.root()}, record),
              HasSubstr("no commit to name it by (could not find repository)"));
  EXPECT_FALSE(fs::exists(tree.root() / "baselines"));
}

TEST(SaveBaseline, RefusesWhatAWarningSpoils) {
  const ScratchTree tree;
  for (const char* code : {"device_shared", "throttled", "clock_drop", "wall_disagrees"}) {
    RunRecord record = example_record();
    record.warnings.push_back({code, "for a reason"});
    EXPECT_THAT(refusal({tree.root()}, record), HasSubstr(std::string("its run was marked ") + code +
                                                          " (for a reason); measure again, or force it"));
    EXPECT_FALSE(fs::exists(tree.root() / "baselines"));
  }
  RunRecord usual = example_record();
  usual.warnings = {{"cpu_shared", "others"}, {"few_steps", "few"}, {"of_another_version", "?"}};
  EXPECT_EQ(refusal({tree.root()}, usual), "saved");
  RunRecord spoilt = example_record();
  spoilt.name = "spoilt";
  spoilt.warnings.push_back({"throttled", "hot"});
  EXPECT_TRUE(fs::exists(save_baseline({tree.root()}, spoilt, {true, "it is always hot"}).path));
}

TEST(SaveBaseline, RefusesTooFewLaunches) {
  const ScratchTree tree;
  RunRecord record = example_record();
  record.repeats.pop_back();
  EXPECT_THAT(refusal({tree.root()}, record), HasSubstr("it has only 2 launches"));
  record.repeats.pop_back();
  EXPECT_THAT(refusal({tree.root()}, record), HasSubstr("it has only 1 launch, and one that went wrong"));
  record.repeats.clear();
  EXPECT_THAT(refusal({tree.root()}, record), HasSubstr("it has only 0 launches"));
  EXPECT_EQ(refusal({tree.root()}, record, {true, "one is all there is"}), "saved");
}

TEST(SaveBaseline, ForceNeedsAReasonAndStoresIt) {
  const ScratchTree tree;
  const Store store{tree.root()};
  RunRecord record = example_record();
  record.subject.dirty = true;
  try {
    save_baseline(store, record, {true, " "});
    FAIL() << "saved without a reason";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
  }
  const fs::path path = save_baseline(store, record, {true, "machine is being returned"}).path;
  EXPECT_EQ(read_record(path).forced_reason, "machine is being returned");
  EXPECT_THAT(file_text(path), HasSubstr("\"forced\": {\n    \"reason\": \"machine is being returned\""));
  EXPECT_THAT(file_text(tree.root() / "baselines/README.md"),
              HasSubstr("(forced: machine is being returned)"));
}

TEST(SaveBaseline, UncommittedBaselineIsNotOverwritten) {
  const ScratchTree tree;
  const Store store{tree.root()};
  const fs::path path = save_baseline(store, example_record(), {}).path;
  const std::string before = file_text(path);
  RunRecord newer = example_record();
  newer.metrics.step_s->mean = 0.2;
  EXPECT_THAT(refusal(store, newer), HasSubstr("is in no commit as it is now"));
  EXPECT_EQ(file_text(path), before);
  tree.commit("baseline");
  EXPECT_EQ(refusal(store, newer), "saved");
  EXPECT_THAT(refusal(store, newer, {true, "second thoughts"}), "saved");
}

TEST(SaveBaseline, SameRecordGivesTheSameBytes) {
  const ScratchTree one, two;
  EXPECT_EQ(file_text(save_baseline({one.root()}, example_record(), {}).path),
            file_text(save_baseline({two.root()}, example_record(), {}).path));
}

/// Saved from a record that was itself read back, as `baseline save FILE` does.
TEST(SaveBaseline, ReadBackGivesTheSameBytes) {
  const ScratchTree one, two;
  const fs::path path = save_baseline({one.root()}, example_record(), {}).path;
  EXPECT_EQ(file_text(save_baseline({two.root()}, read_record(path), {}).path), file_text(path));
}

TEST(ListBaselines, SortedAndProblemsNamed) {
  const ScratchTree tree;
  const Store store{tree.root()};
  for (const char* name : {"b", "a", "B"}) save_baseline(store, named(name), {});
  RunRecord other = named("a");
  other.environment.device_count = 1;
  save_baseline(store, other, {});
  tree.write("baselines/8x-nvidia-h200/broken.json", "{\"schema\": \"flop");
  tree.write("baselines/8x-nvidia-h200/.flopmark-1-1.tmp", "half");
  tree.write("baselines/8x-nvidia-h200/notes.txt", "mine");
  fs::create_directories(tree.root() / "baselines/8x-nvidia-h200/folder.json");
  std::vector<std::string> problems, paths;
  for (const auto& baseline : list_baselines(store, problems))
    paths.push_back(baseline.path.generic_string());
  EXPECT_THAT(paths, ElementsAre("baselines/1x-nvidia-h200/a.json", "baselines/8x-nvidia-h200/B.json",
                                 "baselines/8x-nvidia-h200/a.json", "baselines/8x-nvidia-h200/b.json"));
  EXPECT_THAT(problems, ElementsAre(HasSubstr("broken.json: is not whole JSON"),
                                    HasSubstr("folder.json: is a folder")));
}

TEST(ListBaselines, AFileInAnothersPlaceIsAProblemAndNotListed) {
  const ScratchTree tree;
  const Store store{tree.root()};
  const fs::path right = save_baseline(store, named("a"), {}).path;
  tree.write("baselines/1x-other/a.json", file_text(right));
  tree.write("baselines/8x-nvidia-h200/b.json", file_text(right));
  std::vector<std::string> problems;
  const auto baselines = list_baselines(store, problems);
  ASSERT_EQ(baselines.size(), 1U);
  EXPECT_EQ(store.root / baselines[0].path, right);
  EXPECT_THAT(problems,
              ElementsAre(HasSubstr("1x-other/a.json: holds the baseline of 8x-nvidia-h200/a, so it belongs"),
                          HasSubstr("8x-nvidia-h200/b.json: holds the baseline of 8x-nvidia-h200/a")));
}

TEST(SaveBaseline, TellsOfOtherFilesThatAreDamaged) {
  const ScratchTree tree;
  tree.write("baselines/8x-nvidia-h200/broken.json", "{");
  const SavedBaseline saved = save_baseline({tree.root()}, example_record(), {});
  EXPECT_EQ(read_record(saved.path).name, "llama-1b-h200");
  EXPECT_THAT(saved.problems, ElementsAre(HasSubstr("broken.json: is not whole JSON")));
  EXPECT_EQ(save_baseline({tree.root()}, named("b"), {}).problems.size(), 1U);
}

TEST(ListBaselines, EmptyStoreHasNone) {
  const ScratchFolder folder;
  std::vector<std::string> problems;
  EXPECT_THAT(list_baselines({folder.root()}, problems), IsEmpty());
  EXPECT_THAT(problems, IsEmpty());
}

TEST(BaselinesReadme, IsLeftAloneWhenItIsRight) {
  const ScratchTree tree;
  save_baseline({tree.root()}, example_record(), {});
  const auto before = fs::last_write_time(tree.root() / "baselines/README.md");
  write_baselines_readme({tree.root()});
  EXPECT_EQ(fs::last_write_time(tree.root() / "baselines/README.md"), before);
}

/// Two people add a baseline each, on branches of one commit; Git merges them without a word.
void expect_merge_without_conflict(const ScratchTree& tree) {
  const Store store{tree.root()};
  ASSERT_TRUE(git(tree.root(), "checkout -q -b theirs"));
  save_baseline(store, named("their-model"), {});
  tree.commit("their baseline");
  ASSERT_TRUE(git(tree.root(), "checkout -q main"));
  save_baseline(store, named("new-model"), {});
  tree.commit("my baseline");
  ASSERT_TRUE(git(tree.root(), "merge -q --no-edit theirs"));
  const std::string readme = file_text(tree.root() / "baselines/README.md");
  EXPECT_THAT(readme, HasSubstr("/new-model |"));
  EXPECT_THAT(readme, HasSubstr("/their-model |"));
  EXPECT_THAT(readme, Not(HasSubstr("<<<<")));
  EXPECT_EQ(readme.find("# Baselines"), readme.rfind("# Baselines"));
  std::vector<std::string> problems = write_baselines_readme(store);
  const std::string mended = file_text(tree.root() / "baselines/README.md");
  EXPECT_THAT(mended, testing::EndsWith(baselines_table(list_baselines(store, problems))));
  EXPECT_EQ(mended.find("| Hardware |"), mended.rfind("| Hardware |"));
  EXPECT_LT(mended.find("/new-model |"), mended.find("/their-model |")) << "sorted";
  EXPECT_EQ(list_baselines(store, problems).size(),
            fs::exists(store.baselines() / "8x-nvidia-h200/a-model.json") ? 3U : 2U);
  EXPECT_THAT(problems, IsEmpty());
}

TEST(BaselinesReadme, TwoFirstBaselinesMerge) {
  expect_merge_without_conflict(ScratchTree());
}

TEST(BaselinesReadme, TwoMoreBaselinesMerge) {
  const ScratchTree tree;
  save_baseline({tree.root()}, named("a-model"), {});
  tree.commit("old baseline");
  expect_merge_without_conflict(tree);
}

/// The table as another version made it: a union of two headers is made one by the next command.
TEST(BaselinesReadme, AnotherVersionsTableIsMendedAfterAMerge) {
  const ScratchTree tree;
  const Store store{tree.root()};
  save_baseline(store, named("a-model"), {});
  tree.write("baselines/README.md", "| Old | Header |\n|---|---|\n| a row | of it |\n");
  tree.commit("old table");
  expect_merge_without_conflict(tree);
  EXPECT_EQ(file_text(store.baselines() / "README.md").find("Old"), std::string::npos);
}

/// Ten thousand files are no store; a thousand are listed while one waits.
TEST(ListBaselines, AThousandAreListedInASecondOrTwo) {
  const ScratchTree tree;
  const Store store{tree.root()};
  const fs::path first = save_baseline(store, named("m-0"), {}).path;
  const std::string text = file_text(first);
  for (int i = 1; i < 1000; ++i) {
    const std::string name = "m-" + std::to_string(i);
    std::string copy = text;
    copy.replace(copy.find("\"m-0\""), 5, "\"" + name + "\"");
    tree.write("baselines/8x-nvidia-h200/" + name + ".json", copy);
  }
  const auto start = std::chrono::steady_clock::now();
  EXPECT_THAT(write_baselines_readme(store), IsEmpty());
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20)) << "quadratic?";
  std::vector<std::string> problems;
  EXPECT_EQ(list_baselines(store, problems).size(), 1000U);
}

TEST(BaselinesReadme, UnionAtTheTopOfTheTreeIsEnough) {
  const ScratchTree tree;
  tree.write(".gitattributes", file_text(FLOPMARK_SOURCE_DIR "/.gitattributes"));
  tree.commit("attributes");
  save_baseline({tree.root()}, example_record(), {});
  EXPECT_FALSE(fs::exists(tree.root() / "baselines/.gitattributes"));
}

}  // namespace
}  // namespace flopmark
