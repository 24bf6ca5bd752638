// Broken and hostile archives: whatever is in them, there is one clear error and no crash.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "flopmark/error.h"
#include "models/exported_model.h"
#include "unit/models/exported_file.h"

namespace flopmark {
namespace {

using test::batch_of;
using test::ExportedFile;
using test::json;
using test::tensor_arg;
using ::testing::Not;

/// A small model with most of what an archive can hold.
ExportedFile small_model() {
  ExportedFile file;
  file.parameter("w", test::weight({4, 3}))
      .parameter("b", test::weight({4}))
      .buffer("seen", torch::zeros({1}));
  file.input("x", {"s0", 3}).input("label", {"s0"}, /*dtype=*/5);
  file.node("torch.ops.aten.linear.default",
            {{"input", tensor_arg("x")}, {"weight", tensor_arg("w")}, {"bias", tensor_arg("b")}}, "y",
            "head");
  file.node("torch.ops.aten.reshape.default", {{"self", tensor_arg("y")}, {"shape", {{"as_ints", {-1, 4}}}}},
            "z");
  file.node("torch.ops.aten.dropout.default",
            {{"input", tensor_arg("z")}, {"p", {{"as_float", 0.1}}}, {"train", {{"as_bool", true}}}}, "d");
  file.node("torch.ops.aten.cross_entropy_loss.default",
            {{"self", tensor_arg("d")}, {"target", tensor_arg("label")}}, "loss");
  file.node("torch.ops.aten.add.Tensor", {{"self", tensor_arg("seen")}, {"other", {{"as_int", 1}}}}, "next");
  file.result("loss").mutation("seen", "next");
  file.samples({torch::ones({2, 3}), torch::zeros({2}, torch::kLong)});
  return file;
}

class ExportedFuzz : public ::testing::Test {
 protected:
  /// Reads the inputs, loads and, where that works, takes the loss twice and goes back.
  void try_model(const std::string& path) {
    ModelShape shape;
    shape.type = "exported";
    shape.exported = path;
    try {
      exported_data_inputs(path, 0);
    } catch (const Error& error) {
      expect_clear(error);
    }
    try {
      ExportedModel model(shape, {{}, 0, 0, 2});
      ++loaded_;
      const Batch batch = batch_of({torch::ones({2, 3}), torch::zeros({2}, torch::kLong)});
      for (int step = 0; step < 2; ++step) model.loss(batch).backward();
    } catch (const Error& error) {
      expect_clear(error);
    } catch (const std::exception&) {
      // of LibTorch, while the model ran: the worker reports it
    }
  }
  static void expect_clear(const Error& error) {
    EXPECT_TRUE(error.code() == ExitCode::cannot_judge || error.code() == ExitCode::usage) << error.what();
    EXPECT_THAT(error.what(), Not(::testing::ContainsRegex("frame #|json.exception|\n")));
  }

  test::ModelFolder folder_;
  int loaded_ = 0;
};

TEST_F(ExportedFuzz, TheModelItselfIsFine) {
  try_model(small_model().write(folder_.path("whole.pt2")));
  EXPECT_EQ(loaded_, 1);
}

TEST_F(ExportedFuzz, CutAnywhere) {
  const std::string whole = test::file_bytes(small_model().write(folder_.path("whole.pt2")));
  for (size_t i = 0; i < 60; ++i) try_model(folder_.write("cut.pt2", whole.substr(0, i * whole.size() / 60)));
  EXPECT_EQ(loaded_, 0);
}

TEST_F(ExportedFuzz, AnyByteOfTheFileChanged) {
  const std::string whole = test::file_bytes(small_model().write(folder_.path("whole.pt2")));
  std::mt19937_64 random(5);
  for (int i = 0; i < 200; ++i) {
    std::string changed = whole;
    for (uint64_t flips = 1 + random() % 4; flips > 0; --flips) {
      changed[random() % changed.size()] = static_cast<char>(random());
    }
    try_model(folder_.write("changed.pt2", changed));
  }
}

/// Bytes of the document, with the archive's checksums right.
TEST_F(ExportedFuzz, AnyByteOfTheGraphChanged) {
  ExportedFile file = small_model();
  const std::string whole = file.program().dump();
  std::mt19937_64 random(6);
  for (int i = 0; i < 300; ++i) {
    std::string changed = whole;
    for (uint64_t flips = 1 + random() % 3; flips > 0; --flips) {
      changed[random() % changed.size()] = static_cast<char>(' ' + random() % 95);
    }
    file.records()["models/model.json"] = changed;
    try_model(file.write(folder_.path("changed.pt2")));
  }
}

/// A value somewhere in the document becomes one of another kind or size, or the value of another place.
TEST_F(ExportedFuzz, AnyValueOfTheGraphReplaced) {
  ExportedFile file = small_model();
  const json flat = file.program().flatten();
  std::vector<std::string> places;
  for (const auto& [place, value] : flat.items()) places.push_back(place);
  const std::vector<json> others = {
      nullptr, -1,  0,   1,    1 << 20,        int64_t{1} << 62, 2.5,
      "",      "w", "x", true, json::object(), json::array(),    {{"as_int", 7}}};
  std::mt19937_64 random(7);
  for (int i = 0; i < 400; ++i) {
    json changed = file.program();
    json::json_pointer place(places[random() % places.size()]);
    if (random() % 4 == 0 && !place.empty()) place = place.parent_pointer();
    changed[place] =
        random() % 3 == 0 ? flat[places[random() % places.size()]] : others[random() % others.size()];
    file.records()["models/model.json"] = changed.dump();
    try_model(file.write(folder_.path("changed.pt2")));
  }
  EXPECT_GT(loaded_, 20);  // the changes are not all fatal
}

TEST_F(ExportedFuzz, AnyByteOfTheTensorListChanged) {
  ExportedFile file = small_model();
  const std::string whole = json{{"config", file.weights()}}.dump();
  std::mt19937_64 random(8);
  for (int i = 0; i < 150; ++i) {
    std::string changed = whole;
    changed[random() % changed.size()] = static_cast<char>(' ' + random() % 95);
    file.records()["data/weights/model_weights_config.json"] = changed;
    try_model(file.write(folder_.path("changed.pt2")));
  }
}

}  // namespace
}  // namespace flopmark
