#include "plugin/plugin_library.h"

#include <gmock/gmock.h>

#include "unit/models/script_modules.h"
#include "unit/plugin/fake_plugins.h"

namespace flopmark {
namespace {

using test::fake_plugin;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string refused_library(const std::string& path) {
  return test::refusal([&] { PluginLibrary({"model.plugin", path}); });
}

std::string refused_entry(const char* fault) {
  const test::PluginFault set(fault);
  return refused_library(fake_plugin("faulty-plugin"));
}

TEST(PluginLibrary, FilesThatAreNoLibrary) {
  const test::ModelFolder files;
  EXPECT_EQ(refused_library(files.path("none.so")),
            "model.plugin " + files.path("none.so") + ": no such file; build it, or mend the path");
  EXPECT_THAT(refused_library(files.path("")), HasSubstr("is not a regular file"));
  EXPECT_THAT(refused_library(files.write("text.so", "hello")), HasSubstr("is no shared library"));
  EXPECT_THAT(refused_library(files.write("empty.so", "")), HasSubstr("is no shared library"));
  EXPECT_THAT(
      refused_library(files.write("cut.so",
                                  "\x7f"
                                  "ELF and no more")),
      AllOf(HasSubstr("cannot be loaded: "), HasSubstr("cut.so"), HasSubstr("LibTorch " TORCH_VERSION)));
}

TEST(PluginLibrary, LibrariesThatAreNoPlugin) {
  EXPECT_THAT(refused_library(fake_plugin("broken-entry")),
              HasSubstr("libflopmark-broken-entry.so: has no function flopmark_plugin; define extern \"C\""));
  EXPECT_THAT(refused_library(fake_plugin("broken-symbol")),
              AllOf(HasSubstr("undefined symbol at::operator_of_another_version(char const*, int) (_ZN2at"),
                    HasSubstr("build it again with the SDK"), HasSubstr("LibTorch " TORCH_VERSION)));
}

TEST(PluginLibrary, AnEntryPointThatFails) {
  EXPECT_THAT(refused_entry("throw"), AllOf(StartsWith("not an Error: "),  // 125 all the same
                                            HasSubstr("flopmark_plugin() threw: a fault on purpose")));
  EXPECT_THAT(refused_entry("throw_int"),
              HasSubstr("flopmark_plugin() threw something that is not a std::exception"));
  EXPECT_THAT(refused_entry("null"), HasSubstr("flopmark_plugin() returned null"));
}

TEST(PluginLibrary, AnotherVersionNamesBothAndWhatToDo) {
  EXPECT_THAT(refused_entry("sdk"),
              AllOf(HasSubstr("was built with SDK 77 of flopmark, and this worker has SDK 1; "),
                    HasSubstr("build it again")));
  EXPECT_THAT(refused_entry("libtorch"),
              HasSubstr("was built against LibTorch 1.13.1, and this worker runs LibTorch " TORCH_VERSION
                        "; build it again with the SDK of this flopmark"));
  EXPECT_THAT(refused_entry("abi"), HasSubstr("_GLIBCXX_USE_CXX11_ABI=0, and this worker with 1"));
  EXPECT_THAT(refused_entry("twice"), HasSubstr("holds two models called \"model\""));
  EXPECT_EQ(refused_entry("none"), "not refused");
}

TEST(PluginLibrary, AnUnknownTypeListsThoseThereAre) {
  EXPECT_EQ(test::refusal([] { test::faulty_model("{}", {}, "modle"); }, ExitCode::usage),
            "model.type: model.plugin " + fake_plugin("faulty-plugin") +
                " has no model \"modle\"; it has model, nothing, error, no_factory");
  EXPECT_THAT(test::refusal([] { test::faulty_data("{}", "model"); }, ExitCode::usage),
              AllOf(StartsWith("data.type: "), HasSubstr("has no data set \"model\"; it has data, nothing")));
}

TEST(PluginLibrary, FactoriesThatFail) {
  const auto refused = [](const char* type, const char* options = "{}") {
    return test::refusal([&] { test::faulty_model(options, {}, type); });
  };
  EXPECT_THAT(refused("no_factory"), HasSubstr("model \"no_factory\" has no factory (null)"));
  EXPECT_THAT(refused("nothing"), HasSubstr("the factory of model \"nothing\" returned null"));
  EXPECT_THAT(test::refusal([] { test::faulty_data("{}", "nothing"); }),
              HasSubstr("the factory of data set \"nothing\" returned null"));
  EXPECT_THAT(refused("error"), HasSubstr("making model \"error\" threw: cannot be made"));
  EXPECT_THAT(refused("error", R"({"fault": "throw_int"})"),
              HasSubstr("making model \"error\" threw something that is not a std::exception"));
  EXPECT_THAT(refused("error", R"({"fault": "throw_torch"})"),
              AllOf(HasSubstr("threw: sizes do not fit"), Not(HasSubstr("frame #"))));
}

TEST(PluginLibrary, OptionsAreThePluginsToRefuse) {
  const auto refused = [](const char* options, const char* type = "model") {
    return test::refusal([&] { test::faulty_model(options, {}, type); }, ExitCode::usage);
  };
  EXPECT_THAT(refused(R"({"at": 0})"), HasSubstr("model.options.at: found 0, expected a whole number >= 1"));
  EXPECT_EQ(refused(R"({"att": 1})"), "model.options: unknown option \"att\"; known are at, fault");
  EXPECT_THAT(refused(R"({"fault": "usage"})", "error"),
              HasSubstr("making model \"error\": the batch is too small"));
}

}  // namespace
}  // namespace flopmark
