// `flopmark` on plug-ins: what is recorded, and what is said of those that go wrong (public case A31).
#include <gmock/gmock.h>

#include "integration/tiny_run.h"

namespace flopmark::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kFaulty = FLOPMARK_FAKE_PLUGINS "/libflopmark-faulty-plugin.so";

/// Runs of a config whose model and data set are the faulty plug-in's: 12 warm-up steps, 20 timed ones. The
/// data set is asked once more, for the number of its tensors.
class PluginRun : public TinyRun {
 protected:
  void SetUp() override {
    TinyRun::SetUp();
    write_config(kFaulty, kFaulty);
  }
  void write_config(const std::string& model, const std::string& data) const {
    const nlohmann::json config = {
        {"name", "plugged"},
        {"model", {{"plugin", model}, {"type", "model"}, {"options", {{"at", 1}}}}},
        {"data", {{"plugin", data}, {"type", "data"}, {"batch_size", 8}, {"workers", 1}}},
        {"train", {{"optimizer", {{"type", "sgd"}}}}},
        {"device", "cpu"},
        {"measure",
         {{"warmup_min_steps", 12},
          {"warmup_max_steps", 12},
          {"steps", 20},
          {"repeats", 1},
          {"threads", 1}}}};
    std::ofstream(folder_ / "tiny.json") << config;
  }
  /// A run whose model goes wrong this way in call `at` of loss(), with a failed record.
  nlohmann::json failure_of(const std::string& fault, int at) const {
    const ProgramResult result = run({"--force", "--set", "model.options.fault=" + fault, "--set",
                                      "model.options.at=" + std::to_string(at)});
    EXPECT_EQ(result.exit_code, 125) << fault << '\n' << result.err;
    EXPECT_EQ(record()["status"], "failed") << fault;
    return record()["failure"];
  }
  /// The text a run is refused with before any step, and no record of it.
  std::string refusal_of(const std::string& set) const {
    const ProgramResult result = run({"--force", "--set", set});
    EXPECT_EQ(result.exit_code, 200) << set << '\n' << result.err;
    EXPECT_FALSE(std::filesystem::exists(record_file()));
    return result.err;
  }
};

TEST_F(PluginRun, MeasuresAndRecordsModelAndData) {
  const ProgramResult result = run({"--set", "data.options.fault=has_facts"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const nlohmann::json record = this->record();
  EXPECT_EQ(record["status"], "ok");
  EXPECT_EQ(record["parameters"], 4);
  EXPECT_EQ(record["config"]["model"],
            (nlohmann::json{{"plugin", kFaulty}, {"type", "model"}, {"options", {{"at", 1}}}}));
  EXPECT_EQ(record["config"]["data"]["type"], "data");
  EXPECT_EQ(record["config"]["data"]["options"], (nlohmann::json{{"fault", "has_facts"}}));
  EXPECT_FALSE(record["config"]["data"].contains("sequence_length"));
  EXPECT_EQ(record["data"]["model_hash"].get<std::string>().size(), 16U);
  EXPECT_EQ(record["data"]["hash"], "abc");
  EXPECT_EQ(record["data"]["samples"], 64);
  EXPECT_EQ(record["repeats"][0]["samples"], 20 * 8);
  EXPECT_THAT(result.out,
              AllOf(HasSubstr("model (plug-in libflopmark-faulty-plugin.so), 4 parameters, batch 8"),
                    HasSubstr("data     data here, plug-in libflopmark-faulty-plugin.so")));
}

TEST_F(PluginRun, DataWithoutAHashOfItsOwnHasThatOfTheLibrary) {
  ASSERT_EQ(run().exit_code, 0);
  EXPECT_EQ(record()["data"]["hash"], record()["data"]["model_hash"]);
}

TEST_F(PluginRun, ItsDataTrainsModelsOfOtherKinds) {
  std::ofstream(folder_ / "tiny.json") << nlohmann::json{
      {"model", {{"torchscript", FLOPMARK_SOURCE_DIR "/examples/mlp.pt"}, {"loss", "cross_entropy"}}},
      {"data", {{"plugin", kFaulty}, {"type", "data"}, {"batch_size", 8}}}};
  const ProgramResult result = run();  // 4 features for a model that takes 32
  EXPECT_EQ(result.exit_code, 125) << result.err;
  EXPECT_THAT(result.err, HasSubstr("the TorchScript model's forward or loss failed"));
}

TEST_F(PluginRun, ItsModelTrainsOnRandomInputs) {
  std::ofstream(folder_ / "tiny.json")
      << nlohmann::json{{"model", {{"plugin", kFaulty}, {"type", "model"}}},
                        {"data", {{"inputs", {{{"shape", {8, 4}}, {"dtype", "float32"}}}}}},
                        {"measure", {{"warmup_max_steps", 12}, {"steps", 20}, {"repeats", 1}}},
                        {"device", "cpu"}};
  ASSERT_EQ(run().exit_code, 0);
  EXPECT_EQ(record()["repeats"][0]["samples"], 20 * 8);
}

TEST_F(PluginRun, CountsFlopsByDoingTheStep) {
  const ProgramResult result =
      run_program(FLOPMARK_PROGRAM, {{"flops", "tiny.json", "--format", "json"}, {}, folder_, "", false});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(nlohmann::json::parse(result.out)["parameters"], 4);
}

TEST_F(PluginRun, FaultsOfAStepHavePhaseAndStep) {
  const auto failure = failure_of("throw_int", 12 + 7);
  EXPECT_EQ(failure["kind"], "error");
  EXPECT_EQ(failure["phase"], "timed");
  EXPECT_EQ(failure["step"], 7);
  EXPECT_THAT(failure["text"].get<std::string>(),
              HasSubstr("loss() of model threw something that is not a std::exception"));
  const auto thrown = failure_of("throw_torch", 3);
  EXPECT_EQ(thrown["phase"], "warmup");
  EXPECT_EQ(thrown["step"], 3);
  EXPECT_THAT(thrown["text"].get<std::string>(),
              AllOf(HasSubstr("loss() of model threw: sizes do not fit"), Not(HasSubstr("frame #"))));
  EXPECT_THAT(failure_of("throw_empty", 2)["text"].get<std::string>(),
              HasSubstr("loss() of model threw an exception without text"));
  EXPECT_EQ(failure_of("oom", 2)["kind"], "out_of_memory");
  EXPECT_EQ(failure_of("nan", 3)["kind"], "nan_loss");
}

TEST_F(PluginRun, ACrashOrAnEndOfTheProcessIsAFailureToo) {
  const auto crash = failure_of("crash", 5);
  EXPECT_EQ(crash["kind"], "crash");
  EXPECT_EQ(crash["step"], 5);
  EXPECT_THAT(crash["text"].get<std::string>(), HasSubstr("SIGSEGV"));
  EXPECT_FALSE(failure_of("exit_at_once", 5)["text"].get<std::string>().empty());
  const auto exit = failure_of("exit", 12 + 4);
  EXPECT_EQ(exit["kind"], "error");
  EXPECT_EQ(exit["phase"], "timed");
  EXPECT_EQ(exit["step"], 4);
  EXPECT_THAT(exit["text"].get<std::string>(),
              HasSubstr("model.plugin " + kFaulty + ": loss() of model called exit()"));
}

TEST_F(PluginRun, ACrashNamesTheFileAndTheCall) {
  const auto crash_in = [this](const ProgramResult& result, const std::string& file, const std::string& call,
                               const std::string& phase) {
    EXPECT_EQ(result.exit_code, 125) << call << '\n' << result.err;
    EXPECT_EQ(record()["failure"]["kind"], "crash") << call;
    EXPECT_EQ(record()["failure"]["phase"], phase) << call;
    EXPECT_THAT(record()["failure"]["text"].get<std::string>(), HasSubstr(file + ": crashed in " + call));
    EXPECT_THAT(result.err, AllOf(HasSubstr(file + ": crashed in " + call), HasSubstr("in phase " + phase)));
  };
  for (const char* fault : {"crash", "abort"}) {
    crash_in(run_program(FLOPMARK_PROGRAM, command({"--force"}, {{"FAULTY_PLUGIN", fault}})),
             "data.plugin " + kFaulty, "flopmark_plugin()", "load");
    const std::string set = std::string("model.options.fault=") + fault;
    crash_in(run({"--force", "--set", set, "--set", "model.type=error"}), "model.plugin " + kFaulty,
             "making model \"error\"", "load");
    crash_in(run({"--force", "--set", set, "--set", "model.options.at=3"}), "model.plugin " + kFaulty,
             "loss() of model", "warmup");
    crash_in(
        run({"--force", "--set", std::string("data.options.fault=") + fault, "--set", "data.options.at=9"}),
        "data.plugin " + kFaulty, "collate() of data", "warmup");
  }
  const std::string loading = FLOPMARK_FAKE_PLUGINS "/libflopmark-broken-loading.so";
  write_config(loading, kFaulty);
  crash_in(run({"--force"}), "model.plugin " + loading, "loading it", "load");
}

TEST_F(PluginRun, AFaultOfALoaderThreadIsToldWhenItsBatchIsDue) {
  const ProgramResult result =
      run({"--set", "data.options.fault=throw_int", "--set", "data.options.at=5"});  // batch 4
  EXPECT_EQ(result.exit_code, 125);
  const nlohmann::json failure = record()["failure"];
  EXPECT_EQ(failure["phase"], "warmup");
  EXPECT_EQ(failure["step"], 4);
  EXPECT_THAT(failure["text"].get<std::string>(), HasSubstr("collate() of data threw something that is not"));
}

TEST_F(PluginRun, ALibraryThatDoesNotLoadCannotBeJudged) {
  const std::string folder = FLOPMARK_FAKE_PLUGINS;
  for (const auto& [file, text] :
       {std::pair<std::string, const char*>{"none.so", "no such file; build it"},
        {folder + "/libflopmark-broken-symbol.so", "at::operator_of_another_version"},
        {folder + "/libflopmark-broken-entry.so", "has no function flopmark_plugin"},
        {folder + "/libflopmark-broken-initialiser.so", "the licence server is away"}}) {
    write_config(file, kFaulty);
    const ProgramResult result = run({"--force"});
    EXPECT_EQ(result.exit_code, 125) << result.err;
    EXPECT_EQ(record()["failure"]["phase"], "load");
    EXPECT_THAT(record()["failure"]["text"].get<std::string>(), HasSubstr(text));
  }
}

TEST_F(PluginRun, VersionsOfTheEntryPointAreChecked) {
  for (const auto& [fault, text] :
       {std::pair{"libtorch", "was built against LibTorch 1.13.1, and this worker"},
        {"sdk", "was built with SDK 77"},
        {"throw_int", "flopmark_plugin() threw something"}}) {
    const ProgramResult result =
        run_program(FLOPMARK_PROGRAM, command({"--force"}, {{"FAULTY_PLUGIN", fault}}));
    EXPECT_EQ(result.exit_code, 125) << result.err;
    EXPECT_THAT(result.err, HasSubstr(text));
  }
}

TEST_F(PluginRun, WhatTheConfigSaysWrongIsTheUsersMistake) {
  EXPECT_THAT(refusal_of("model.type=modle"), HasSubstr("has no model \"modle\"; it has model, nothing"));
  EXPECT_THAT(refusal_of("model.options.fualt=x"),
              HasSubstr("model.options: unknown option \"fualt\"; known are at, fault"));
  EXPECT_THAT(refusal_of("data.options.at=two"),
              HasSubstr("data.options.at: found \"two\", expected a whole"));
  EXPECT_THAT(refusal_of("model.options.fault=no_parameters"), HasSubstr("there is nothing to train"));
  EXPECT_THAT(refusal_of("model.options.fault=usage"), HasSubstr("loss() of model: the batch is too small"));
}

TEST_F(PluginRun, ABuildOfACommitTakesThePlaceOfTheConfigsLibrary) {
  write_config("made/libmade.so", "made/libmade.so");  // is nowhere but in the builds
  std::ofstream(folder_ / ".gitignore") << "/made/\n/cache/\n/data/\n";
  for (const auto& arguments : std::vector<std::vector<std::string>>{
           {"init", "-q", "-b", "main"},
           {"add", "-A"},
           {"-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-q", "-m", "start"}}) {
    ASSERT_EQ(
        run_program("git", {arguments, {{"GIT_CONFIG_GLOBAL", "/dev/null"}}, folder_, "", false}).exit_code,
        0);
  }
  ProgramOptions options = command({});
  options.arguments = {"ab",
                       "tiny.json",
                       "--quiet",
                       "--a.ref",
                       "HEAD",
                       "--build",
                       "mkdir -p made && cp " + kFaulty + " made/libmade.so",
                       "--budget",
                       "8s",
                       "--seed",
                       "1",
                       "--format",
                       "json"};
  const ProgramResult result = run_program(FLOPMARK_PROGRAM, options);
  const auto whole = nlohmann::json::parse(result.out);
  EXPECT_GE(whole["pairs"].size(), 1U) << result.err << result.out;
  EXPECT_EQ(whole["deterministic"]["parameters"]["change"], "same");
}

}  // namespace
}  // namespace flopmark::testing
