#include "models/exported_archive.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "flopmark/error.h"
#include "models/exported_model.h"
#include "unit/models/exported_file.h"

namespace flopmark {
namespace {

using test::ExportedFile;
using test::json;
using test::ModelFolder;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// What loading `path` is refused with; "loaded" if it is not.
std::string export_refusal(const std::string& path) {
  try {
    load_export(path, torch::kCPU);
    return "loaded";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::cannot_judge) << error.what();
    EXPECT_THAT(error.what(), AllOf(HasSubstr("model.exported " + path), Not(HasSubstr("\n")),
                                    Not(HasSubstr("frame #")), Not(HasSubstr("json.exception"))));
    return error.what();
  }
}

class ExportedArchiveTest : public ::testing::Test {
 protected:
  std::string refusal(const ExportedFile& file) {
    return export_refusal(file.write(folder_.path("model.pt2")));
  }
  std::string refusal_of(const std::map<std::string, std::string>& records) {
    const std::string path = folder_.path("records.pt2");
    ExportedFile::write_records(path, records);
    return export_refusal(path);
  }
  static ExportedFile linear() { return test::exported_linear(test::weight({4, 3})); }

  ModelFolder folder_;
};

TEST_F(ExportedArchiveTest, LoadsWhatWasSaved) {
  EXPECT_EQ(refusal(linear()), "loaded");
}

TEST_F(ExportedArchiveTest, SaysWhatElseAFileIs) {
  EXPECT_THAT(export_refusal(folder_.path("none.pt2")), HasSubstr("no such file"));
  EXPECT_THAT(export_refusal(folder_.path("")), HasSubstr("is not a regular file"));
  EXPECT_THAT(export_refusal(folder_.write("empty.pt2", "")), HasSubstr("is empty"));
  EXPECT_THAT(export_refusal(folder_.write("old.pt2", "\x80\x02}q.")),
              HasSubstr("is a Python pickle, not torch.export"));
  EXPECT_THAT(export_refusal(folder_.write("text.pt2", "{ \"model\": 1 }")), HasSubstr("not a zip archive"));
  EXPECT_THAT(export_refusal(folder_.write("zip.pt2", "PK\x03\x04 and nothing")),
              HasSubstr("cut short or damaged"));
  const std::string script = folder_.path("script.pt2");
  test::script_mlp({3, 2}).save(script);
  EXPECT_THAT(export_refusal(script),
              HasSubstr("is TorchScript, not an archive of torch.export; name it with model.torchscript"));
  EXPECT_THAT(refusal_of({{"data.pkl", "x"}}), HasSubstr("is an archive of torch.save (a state dict"));
  EXPECT_THAT(refusal_of({{"serialized_exported_program.json", "{}"}}),
              HasSubstr("the layout of torch 2.7 and older"));
  EXPECT_THAT(refusal_of({{"data/aotinductor/model/a.so", "x"}}),
              HasSubstr("a compiled model (AOTInductor)"));
  EXPECT_THAT(refusal_of({{"readme", "x"}}), HasSubstr("it has no models/"));
  EXPECT_THAT(refusal_of({{"models/a.json", "{}"}, {"models/b.json", "{}"}}),
              HasSubstr("holds 2 models, none of which is named \"model\""));
}

TEST_F(ExportedArchiveTest, NamesTheVersionThatItDoesNotRead) {
  ExportedFile newer = linear();
  newer.program()["schema_version"]["major"] = 9;
  newer.program()["torch_version"] = "3.1.0";
  EXPECT_THAT(
      refusal(newer),
      HasSubstr(
          "has schema version 9 of torch.export (saved by torch 3.1.0), of which version 8 is read here"));
  ExportedFile unsaid = linear();
  unsaid.program().erase("schema_version");
  EXPECT_THAT(refusal(unsaid), HasSubstr("does not say its schema_version"));
  ExportedFile archive = linear();
  archive.records()["archive_version"] = "1";
  EXPECT_THAT(refusal(archive), HasSubstr("is a newer archive, version \"1\" of the format"));
  ExportedFile big = linear();
  big.records()["byteorder"] = "big";
  EXPECT_THAT(refusal(big), HasSubstr("another byte order"));
  ExportedFile minor = linear();
  minor.program()["schema_version"]["minor"] = 99;
  EXPECT_EQ(refusal(minor), "loaded");
}

TEST_F(ExportedArchiveTest, ReadsTheOneModelWhateverItsName) {
  const ExportedFile file = linear();
  const std::string path = folder_.path("named.pt2");
  ExportedFile copy = file;
  ExportedFile::write_records(
      path, {{"models/net.json", copy.program().dump()},
             {"data/weights/net_weights_config.json", json{{"config", copy.weights()}}.dump()},
             {"data/weights/weight_0", copy.records().at("data/weights/weight_0")}});
  EXPECT_EQ(export_refusal(path), "loaded");
}

TEST_F(ExportedArchiveTest, UnpacksNoMoreThanTheFileHolds) {
  const std::string path = folder_.path("bomb.pt2");
  ExportedFile::write_records(path, {{"models/model.json", std::string(size_t{64} << 20, ' ')}},
                              /*compress=*/true);
  EXPECT_LT(std::filesystem::file_size(path), size_t{1} << 20);
  EXPECT_THAT(export_refusal(path), HasSubstr("unpacks to more than the file holds"));
}

TEST_F(ExportedArchiveTest, ADeeplyNestedDocumentIsRefused) {
  const std::string deep = "{\"schema_version\": {\"major\": " + std::string(200000, '[');
  EXPECT_THAT(refusal_of({{"models/model.json", deep}}), HasSubstr("nested too deeply"));
}

TEST_F(ExportedArchiveTest, NamesTheTensorThatIsMissingOrBroken) {
  ExportedFile unlisted = linear();
  unlisted.weights().erase("w");
  EXPECT_THAT(refusal(unlisted), HasSubstr("has no values of the tensor \"w\""));
  ExportedFile missing = linear();
  missing.weights()["w"]["path_name"] = "weight_7";
  EXPECT_THAT(refusal(missing), HasSubstr("has no record \"data/weights/weight_7\""));
  ExportedFile shorter = linear();
  shorter.records()["data/weights/weight_0"].resize(40);
  EXPECT_THAT(refusal(shorter), HasSubstr("the tensor \"w\" is broken: its record \"data/weights/weight_0\" "
                                          "has 40 bytes, its sizes need 48"));
  ExportedFile pickled = linear();
  pickled.weights()["w"]["use_pickle"] = true;
  EXPECT_THAT(refusal(pickled), HasSubstr("it is a Python pickle"));
}

TEST_F(ExportedArchiveTest, NonsenseSizesAreRefused) {
  const auto with = [&](const char* key, const json& value) {
    ExportedFile file = linear();
    file.weights()["w"]["tensor_meta"][key] = value;
    return refusal(file);
  };
  const int64_t huge = int64_t{1} << 62;
  EXPECT_THAT(with("sizes", {{{"as_int", huge}}, {{"as_int", huge}}}), HasSubstr("too large to count"));
  EXPECT_THAT(with("sizes", {{{"as_int", -4}}, {{"as_int", 3}}}), HasSubstr("has the size -4"));
  EXPECT_THAT(with("strides", {{{"as_int", -3}}, {{"as_int", 1}}}), HasSubstr("has the size -3"));
  EXPECT_THAT(with("strides", {{{"as_int", 1}}}), HasSubstr("not as many strides as sizes"));
  EXPECT_THAT(with("storage_offset", {{"as_int", 1}}), HasSubstr("has 48 bytes, its sizes need 52"));
  EXPECT_THAT(with("dtype", 99), HasSubstr("dtype 99 is not known here"));
  EXPECT_THAT(with("layout", 1), HasSubstr("sparse"));
  EXPECT_THAT(with("sizes", "all"), HasSubstr("sizes are \"all\", expected a list"));
}

}  // namespace
}  // namespace flopmark
