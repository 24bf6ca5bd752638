#include "data/tensor_dataset.h"

#include <caffe2/serialize/inline_container.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/csrc/jit/serialization/pickle.h>
#include <torch/types.h>

#include "data/datasets.h"
#include "data/tensor_file.h"
#include "flopmark/error.h"
#include "unit/data/array_files.h"

namespace flopmark {
namespace {

using testing::AllOf;
using testing::HasSubstr;

/// As torch.save writes it.
std::string saved(const c10::IValue& value) {
  const std::vector<char> bytes = torch::jit::pickle_save(value);
  return {bytes.begin(), bytes.end()};
}

RunConfig tensor_config(const std::string& path) {
  RunConfig config;
  config.model.type = "torchscript";
  config.data.type = "tensors";
  config.data.path = path;
  return config;
}

std::string tensor_refusal(const RunConfig& config) {
  try {
    make_dataset(config);
    return "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return error.what();
  }
}

torch::Tensor images() {
  return torch::arange(24, torch::kFloat32).view({4, 2, 3});
}
torch::Tensor labels() {
  return torch::tensor({3, 1, 4, 1}, torch::kInt64);
}

void expect_rows(const Dataset& dataset) {
  EXPECT_EQ(dataset.size(), 4);
  const Batch batch = dataset.collate({2, 0});
  EXPECT_EQ(batch.samples, 2);
  EXPECT_EQ(batch.tokens + batch.images, 0);
  ASSERT_EQ(batch.inputs.size(), 2u);
  EXPECT_TRUE(torch::equal(batch.inputs[0], images().index_select(0, torch::tensor({2, 0}))));
  EXPECT_TRUE(torch::equal(batch.inputs[1], torch::tensor({4, 3}, torch::kInt64)));
}

TEST(TensorDataset, ListsTuplesAndDictsOfTorchSave) {
  const TempFolder folder;
  c10::List<torch::Tensor> list({images(), labels()});
  c10::Dict<std::string, torch::Tensor> dict;
  dict.insert("x", images());
  dict.insert("y", labels());
  for (const c10::IValue& value :
       {c10::IValue(list), c10::IValue(std::make_tuple(images(), labels())), c10::IValue(dict)}) {
    const auto dataset = make_dataset(tensor_config(folder.file("xy.pt", saved(value))));
    expect_rows(*dataset);
    EXPECT_EQ(dataset->facts().format, "pt");
    EXPECT_EQ(dataset->facts().hash->size(), 16u);
  }
  const auto alone = make_dataset(tensor_config(folder.file("x.pt", saved(images()))));
  EXPECT_EQ(alone->collate({1}).inputs.size(), 1u);
}

// As PyTorch 2.15's torch.save wrote them: [x, y], {"x": x, "y": y}, Linear(3, 2).state_dict(), and [x, y] in
// the format from before 1.6.
TEST(TensorDataset, FilesThatPythonSaved) {
  const std::string folder = FLOPMARK_SOURCE_DIR "/tests/unit/data/python/";
  for (const char* name : {"list.pt", "dict.pt"}) {
    const auto dataset = make_dataset(tensor_config(folder + name));
    EXPECT_EQ(dataset->size(), 4);
    EXPECT_TRUE(torch::equal(dataset->collate({0, 1, 2, 3}).inputs[0], images()));
    EXPECT_TRUE(torch::equal(dataset->collate({0, 1, 2, 3}).inputs[1], labels()));
  }
  EXPECT_THAT(
      tensor_refusal(tensor_config(folder + "state_dict.pt")),
      AllOf(HasSubstr("state_dict.pt: "), HasSubstr("a state_dict"), testing::Not(HasSubstr("ASSERT"))));
  EXPECT_THAT(tensor_refusal(tensor_config(folder + "legacy.pt")), HasSubstr("Python pickle"));
}

TEST(TensorDataset, ViewsAndGradientsArePlainValues) {
  const TempFolder folder;
  const torch::Tensor turned = images().permute({2, 0, 1}).set_requires_grad(true);
  const auto dataset = make_dataset(tensor_config(folder.file("x.pt", saved(turned))));
  const Batch batch = dataset->collate({1});
  EXPECT_TRUE(torch::equal(batch.inputs[0], turned.detach().slice(0, 1, 2)));
  EXPECT_FALSE(batch.inputs[0].requires_grad());
}

// The unpickler would read the scales of one before anybody could look at its sizes.
TEST(TensorDataset, QuantizedTensorsAreNotBuilt) {
  const TempFolder folder;
  const auto quantized = torch::quantize_per_channel(images(), torch::ones({4}),
                                                     torch::zeros({4}, torch::kLong), 0, torch::kQInt8);
  EXPECT_THAT(tensor_refusal(tensor_config(folder.file("q.pt", saved(quantized)))),
              HasSubstr("q.pt: holds quantized or sparse tensors"));
}

TEST(TensorDataset, NpyFilesOnePerArgument) {
  const TempFolder folder;
  RunConfig config = tensor_config("");
  std::vector<float> values(24);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  config.data.paths = {
      folder.file("x.npy", npy_file(npy_header("<f4", "(4, 2, 3)"), as_bytes(values))),
      folder.file("y.npy", npy_file(npy_header("<i8", "(4,)"), as_bytes<int64_t>({3, 1, 4, 1})))};
  const auto dataset = make_dataset(config);
  expect_rows(*dataset);
  EXPECT_EQ(dataset->facts().format, "npy");
}

TEST(TensorDataset, FortranOrderIsTurned) {
  const TempFolder folder;
  // [[1, 2, 3], [4, 5, 6]] column by column.
  const auto dataset = make_dataset(tensor_config(folder.file(
      "f.npy", npy_file(npy_header("<f4", "(2, 3)", true), as_bytes<float>({1, 4, 2, 5, 3, 6})))));
  EXPECT_TRUE(torch::equal(dataset->collate({0, 1}).inputs[0],
                           torch::tensor({1.F, 2.F, 3.F, 4.F, 5.F, 6.F}).view({2, 3})));
}

TEST(TensorDataset, SaysWhatIsNoData) {
  const TempFolder folder;
  c10::Dict<std::string, torch::Tensor> weights;
  weights.insert("0.weight", torch::zeros({8, 4}));
  weights.insert("0.bias", torch::zeros({3}));
  EXPECT_THAT(
      tensor_refusal(tensor_config(folder.file("w.pt", saved(weights)))),
      AllOf(HasSubstr("w.pt (0.bias): has 3"), HasSubstr("w.pt (0.weight) has 8"), HasSubstr("state_dict")));
  EXPECT_THAT(tensor_refusal(tensor_config(folder.file("s.pt", saved(std::string("text"))))),
              AllOf(HasSubstr("s.pt: holds String"), HasSubstr("expected a list")));
  EXPECT_THAT(tensor_refusal(tensor_config(folder.file("0.pt", saved(torch::tensor(1.0F))))),
              HasSubstr("a single value"));
  EXPECT_THAT(tensor_refusal(tensor_config(folder.file("e.pt", saved(torch::zeros({0, 3}))))),
              HasSubstr("holds no sample"));
  EXPECT_THAT(
      tensor_refusal(tensor_config(folder.file("c.pt", saved(torch::zeros({2}, torch::kComplexFloat))))),
      HasSubstr("dtype ComplexFloat"));
  c10::List<torch::Tensor> many;
  for (int i = 0; i < 65; ++i) many.push_back(torch::zeros({1}));
  EXPECT_NE(tensor_refusal(tensor_config(folder.file("m.pt", saved(many)))), "accepted");
}

/// An archive with checksums, as LibTorch's own writer makes it.
std::string archive(const TempFolder& folder, const std::string& name,
                    const std::vector<std::pair<std::string, std::string>>& records) {
  const std::string path = folder.path() / name;
  caffe2::serialize::PyTorchStreamWriter writer(path);
  for (const auto& [record, bytes] : records) writer.writeRecord(record, bytes.data(), bytes.size());
  writer.writeEndOfFile();
  return path;
}

std::string pickle_of(const std::string& path) {
  caffe2::serialize::PyTorchStreamReader reader(path);
  const auto [data, bytes] = reader.getRecord("data.pkl");
  return {static_cast<const char*>(data.get()), bytes};
}

// What Python would run when it unpickles: os.system, named as a class. Nothing is looked up, nothing runs.
TEST(TensorDataset, APickleThatCallsSomethingIsRefused) {
  const TempFolder folder;
  const std::string pickle(
      "\x80\x02"
      "cposix\nsystem\nX\x04\0\0\0true\x85R.",
      28);
  EXPECT_THAT(tensor_refusal(tensor_config(archive(folder, "evil.pt", {{"data.pkl", pickle}}))),
              HasSubstr("evil.pt: holds something else than tensors"));
}

// A pickle says how large a storage is and how a tensor lies in it: both are held against the record.
TEST(TensorDataset, ATensorThatReachesBeyondItsRecordIsRefused) {
  const TempFolder folder;
  const std::string pickle = pickle_of(folder.file("x.pt", saved(torch::zeros({1000, 2}))));
  const std::string whole(8000, '\0');
  EXPECT_EQ(
      tensor_refusal(tensor_config(archive(folder, "whole.pt", {{"data.pkl", pickle}, {"data/0", whole}}))),
      "accepted");
  EXPECT_THAT(tensor_refusal(tensor_config(
                  archive(folder, "short.pt", {{"data.pkl", pickle}, {"data/0", whole.substr(4)}}))),
              HasSubstr("tensor 0 reaches beyond the values that the file holds for it"));
  EXPECT_THAT(
      tensor_refusal(tensor_config(folder.file("expanded.pt", saved(torch::zeros({1}).expand({1000}))))),
      HasSubstr("reaches beyond"));
}

TEST(TensorDataset, CutsAreRefused) {
  const TempFolder folder;
  c10::List<torch::Tensor> list({images(), labels()});
  const std::string file = saved(list);
  for (size_t length = 0; length < file.size(); length += 61) {
    EXPECT_NE(tensor_refusal(tensor_config(folder.file("cut.pt", file.substr(0, length)))), "accepted")
        << length;
  }
}

}  // namespace
}  // namespace flopmark
