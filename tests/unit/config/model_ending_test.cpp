#include "config/model_ending.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config_files.h"

namespace flopmark {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

/// A folder with a copy of an example's model, whatever it is called.
struct CopiedModel {
  CopiedModel(const char* example, const char* name) : file(files.path(name)) {
    std::filesystem::copy_file(std::filesystem::path(FLOPMARK_SOURCE_DIR) / "examples" / example, file);
  }
  ConfigFiles files;
  std::filesystem::path file;
};

TEST(ModelEnding, IsTheSameInAnyCase) {
  EXPECT_EQ(model_ending("a/Model.PT2"), ".pt2");
  EXPECT_EQ(model_ending("a.pt/model"), "");
}

// Before data.inputs is asked for, which a model of torch.export does not need.
/// 125, as whatever is wrong about a file: a bisection skips the commit that built it so.
template <typename Call>
std::string refused_file(Call call) {
  return refusal(call, ExitCode::cannot_judge);
}

TEST(ModelKind, AFileThatGoesByTheOthersEndingIsNamedAtOnce) {
  const CopiedModel exported("mlp.pt2", "renamed.pt"), script("mlp.pt", "renamed.PT2");
  EXPECT_THAT(refused_file([&] { load_config(exported.file); }),
              EndsWith("renamed.pt: is an archive of torch.export, whose files end in .pt2; rename it so"));
  EXPECT_THAT(refused_file([&] { load_config(script.file); }),
              EndsWith("renamed.PT2: is TorchScript, whose files end in .pt; rename it so"));
}

TEST(ModelKind, AKeyOfTheOtherKindIsNamedAtOnce) {
  const CopiedModel exported("mlp.pt2", "model.pt2"), script("mlp.pt", "model.pt");
  EXPECT_THAT(refused_file([&] {
                load_config(exported.files.write("run.json", R"({"model": {"torchscript": "model.pt2"}})"));
              }),
              AllOf(HasSubstr("run.json:1: model.torchscript \"model.pt2\": is an archive of torch.export"),
                    EndsWith("; name it with model.exported")));
  EXPECT_THAT(refused_file([&] {
                load_config(script.files.write("run.json", "{}"), {"model.exported=" + script.file.string()});
              }),
              AllOf(HasSubstr("--set \"model.exported="),
                    EndsWith("is TorchScript; name it with model.torchscript")));
}

TEST(ModelKind, AModelByAnyOtherNameIsNoConfig) {
  const CopiedModel exported("mlp.pt2", "model.bin"), script("mlp.pt", "model");
  EXPECT_THAT(refused_file([&] { load_config(exported.file); }),
              EndsWith("whose files end in .pt2; rename it so"));
  EXPECT_THAT(refused_file([&] { load_config(script.file); }),
              EndsWith("whose files end in .pt; rename it so"));
}

TEST(ModelKind, AnArchiveOfTorchSaveIsNoModel) {
  const ConfigFiles files;
  EXPECT_THAT(
      refused_file([&] { load_config(files.write("w.pt", "PK\x03\x04 archive/data.pkl PK\x05\x06")); }),
      AllOf(HasSubstr("w.pt: is an archive of torch.save"),
            HasSubstr("torch.jit.save (.pt, model.torchscript)")));
}

TEST(ModelKind, WhatIsAsItShouldBeOrNotKnownIsLeftToTheWorker) {
  const CopiedModel exported("mlp.pt2", "model.pt2"), script("mlp.pt", "model.pt");
  EXPECT_EQ(load_config(exported.file).model.type, "exported");
  EXPECT_THAT(refusal([&] { load_config(script.file); }),
              AllOf(HasSubstr("data.inputs is missing"), Not(HasSubstr("rename"))));
  const ConfigFiles files;
  for (const char* bytes : {"", "no archive /models/model.json", "PK\x05\x06"}) {
    EXPECT_EQ(load_config(files.write("odd.pt2", bytes)).model.type, "exported");
  }
}

}  // namespace
}  // namespace flopmark
