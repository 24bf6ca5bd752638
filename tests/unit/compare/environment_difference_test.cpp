#include "compare/environment_difference.h"

#include <gmock/gmock.h>

#include <functional>

#include "unit/compare/compared_records.h"

namespace flopmark {
namespace {

using ::testing::IsEmpty;

struct OneEdit {
  std::string key;
  std::function<void(RunRecord&)> edit;
};

std::vector<EnvironmentDifference> differences_after(const OneEdit& edit,
                                                     const DifferenceOptions& options = {}) {
  RunRecord b = steady_record();
  edit.edit(b);
  return environment_differences(steady_record(), b, options);
}

OneEdit in_config(const std::string& pointer, const nlohmann::json& value) {
  std::string key = "config" + pointer;
  for (char& character : key) character = character == '/' ? '.' : character;
  return {key, [=](RunRecord& record) { record.config[nlohmann::json::json_pointer(pointer)] = value; }};
}

const std::vector<OneEdit>& refusing_edits() {
  static const std::vector<OneEdit> kEdits{
      {"environment.device_name", [](RunRecord& r) { r.environment.device_name = "Other CPU"; }},
      {"environment.device_name", [](RunRecord& r) { r.environment.device_name.reset(); }},
      {"environment.device_count", [](RunRecord& r) { r.environment.device_count = 2; }},
      {"environment.libtorch", [](RunRecord& r) { r.environment.libtorch = "3.0.0"; }},
      in_config("/train/precision", "tf32"),
      in_config("/train/gradient_accumulation", 4),
      in_config("/model/type", "gpt2"),
      in_config("/model/layers", 3),
      in_config("/data/batch_size", 4),
      in_config("/data/sequence_length", 64),
      in_config("/parallel/ranks", 2)};
  return kEdits;
}

const std::vector<OneEdit>& mattering_edits() {
  static const std::vector<OneEdit> kEdits{
      {"environment.driver", [](RunRecord& r) { r.environment.driver = "550.54"; }},
      {"environment.libtorch", [](RunRecord& r) { r.environment.libtorch = "2.15.1"; }},
      {"environment.cuda", [](RunRecord& r) { r.environment.cuda = "12.8"; }},
      {"environment.cudnn", [](RunRecord& r) { r.environment.cudnn = "9.1"; }},
      {"environment.compiler", [](RunRecord& r) { r.environment.compiler = "clang 19"; }},
      {"environment.governor", [](RunRecord& r) { r.environment.governor = "powersave"; }},
      {"environment.threads", [](RunRecord& r) { r.environment.threads = 1; }},
      {"environment.variables.OMP_NUM_THREADS",
       [](RunRecord& r) { r.environment.variables["OMP_NUM_THREADS"] = "1"; }},
      {"data.hash", [](RunRecord& r) { r.data.hash = "0000000000000000"; }},
      {"attention_kernel", [](RunRecord& r) { r.attention_kernel = "unfused"; }},
      in_config("/model/of_a_later_version", 176),
      in_config("/data/path", "other.txt"),
      in_config("/train/optimizer/type", "sgd"),
      in_config("/measure/threads", 1)};
  return kEdits;
}

TEST(EnvironmentDifference, ARecordDoesNotDifferFromItself) {
  EXPECT_THAT(environment_differences(steady_record(), steady_record()), IsEmpty());
}

TEST(EnvironmentDifference, EachFactOfTheFirstClassRefuses) {
  for (const OneEdit& edit : refusing_edits()) {
    const auto differences = differences_after(edit);
    ASSERT_EQ(differences.size(), 1u) << edit.key;
    EXPECT_EQ(differences[0].key, edit.key);
    EXPECT_EQ(differences[0].kind, DifferenceClass::not_comparable) << edit.key;
    EXPECT_FALSE(are_comparable(differences)) << edit.key;
  }
}

/// A config of one rank does not say so, but two ranks are still another job.
TEST(EnvironmentDifference, AnotherWorldSizeRefuses) {
  RunRecord one = steady_record(), two = steady_record();
  one.config.erase("parallel");
  two.config["parallel"] = {{"ranks", 2}, {"backend", "auto"}, {"timeout_s", 60.0}};
  two.environment.device_count = 2;
  const auto differences = environment_differences(one, two);
  ASSERT_EQ(differences.size(), 2u) << "what is of several ranks only says nothing more";
  EXPECT_EQ(differences[0].key, "config.parallel.ranks");
  EXPECT_EQ(differences[0].a + " " + differences[0].b, "1 2");
  EXPECT_EQ(differences[1].key, "environment.device_count");
  EXPECT_FALSE(are_comparable(differences));
  EXPECT_FALSE(are_comparable(environment_differences(two, one)));
  RunRecord again = one;
  again.config["parallel"] = {{"ranks", 1}};
  EXPECT_THAT(environment_differences(one, again), IsEmpty());
  RunRecord other = two;
  other.config["parallel"]["backend"] = "gloo";
  const auto backends = environment_differences(two, other);
  ASSERT_EQ(backends.size(), 1u);
  EXPECT_EQ(backends[0].kind, DifferenceClass::may_matter);

  other = two;
  two.ranks.resize(2);
  other.ranks.resize(2);
  other.ranks[1].host = "another";
  const auto hosts = environment_differences(two, other);
  ASSERT_EQ(hosts.size(), 1u) << "the exchange goes over a network in one of them";
  EXPECT_EQ(hosts[0].key + " " + hosts[0].a + " " + hosts[0].b, "ranks.hosts 1 2");
  EXPECT_TRUE(are_comparable(hosts));
}

TEST(EnvironmentDifference, EachFactOfTheSecondClassIsListedAndRefusesIfStrict) {
  for (const OneEdit& edit : mattering_edits()) {
    const auto differences = differences_after(edit);
    ASSERT_EQ(differences.size(), 1u) << edit.key;
    EXPECT_EQ(differences[0].key, edit.key);
    EXPECT_EQ(differences[0].kind, DifferenceClass::may_matter) << edit.key;
    EXPECT_TRUE(are_comparable(differences)) << edit.key;
    EXPECT_FALSE(are_comparable(differences_after(edit, {true, {}}))) << edit.key;
  }
}

TEST(EnvironmentDifference, TheRestIsHarmless) {
  const std::vector<OneEdit> edits{{"name", [](RunRecord& r) { r.name = "other"; }},
                                   {"os", [](RunRecord& r) { r.environment.os = "another kernel"; }},
                                   {"commit", [](RunRecord& r) { r.subject.commit = "f00d"; }},
                                   {"command", [](RunRecord& r) { r.command_line = {"elsewhere"}; }},
                                   in_config("/model/preset", "named otherwise"),
                                   in_config("/train/seed", 7),
                                   in_config("/measure/steps", 1000),
                                   in_config("/peak/flop_per_s", 1e12)};
  for (const OneEdit& edit : edits) {
    EXPECT_THAT(differences_after(edit), IsEmpty()) << edit.key;
    EXPECT_TRUE(are_comparable(differences_after(edit, {true, {}}))) << edit.key;
  }
}

TEST(EnvironmentDifference, AnotherMajorVersionOfCudaRefusesIfBothAreKnown) {
  RunRecord a = steady_record(), b = steady_record();
  a.environment.cuda = "12.8";
  EXPECT_TRUE(are_comparable(environment_differences(a, b)));
  b.environment.cuda = "12.4";
  EXPECT_TRUE(are_comparable(environment_differences(a, b)));
  b.environment.cuda = "13.0";
  EXPECT_FALSE(are_comparable(environment_differences(a, b)));
}

TEST(EnvironmentDifference, AllowNamesAKeyOrAGroup) {
  const OneEdit edit = in_config("/model/layers", 3);
  for (const std::string key : {"config.model.layers", "config.model", "config"}) {
    const auto differences = differences_after(edit, {false, {"x", key}});
    EXPECT_TRUE(are_comparable(differences)) << key;
    EXPECT_TRUE(differences[0].allowed);
  }
  for (const std::string key : {"config.mod", "model.layers", "config.model.layers.x", ""}) {
    EXPECT_FALSE(are_comparable(differences_after(edit, {false, {key}}))) << key;
  }
  EXPECT_TRUE(are_comparable(differences_after(mattering_edits()[0], {true, {"environment.driver"}})));
}

}  // namespace
}  // namespace flopmark
