#include "models/torchscript_file.h"

#include <caffe2/serialize/inline_container.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/csrc/jit/runtime/operator.h>
#include <torch/csrc/jit/serialization/pickle.h>

#include <functional>
#include <random>
#include <sstream>

#include "flopmark/error.h"
#include "models/torchscript_model.h"
#include "unit/models/script_modules.h"

namespace flopmark {
namespace {

using test::ModelFolder;
using test::script_module;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// What loading `path` is refused with; "loaded" if it is not.
std::string load_refusal(const std::string& path) {
  try {
    load_torchscript(path, torch::kCPU);
    return "loaded";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::cannot_judge) << error.what();
    EXPECT_THAT(error.what(), AllOf(HasSubstr("model.torchscript " + path), Not(HasSubstr("\n")),
                                    Not(HasSubstr("frame #"))));
    return error.what();
  }
}

std::string saved(const ModelFolder& folder, const torch::jit::Module& module) {
  const std::string path = folder.path("model.pt");
  module.save(path);
  return path;
}

std::string refusal_of_source(const std::string& source) {
  const ModelFolder folder;
  return load_refusal(saved(folder, script_module({{"w", test::weight({2})}}, source)));
}

TEST(TorchScriptFile, LoadsWhatWasSaved) {
  const ModelFolder folder;
  const auto module = load_torchscript(saved(folder, test::script_mlp({3, 4, 2})), torch::kCPU);
  EXPECT_EQ(module.parameters().size(), 4U);
}

TEST(TorchScriptFile, SaysWhatElseAFileIs) {
  const ModelFolder folder;
  EXPECT_THAT(load_refusal(folder.path("none.pt")), HasSubstr("no such file"));
  EXPECT_THAT(load_refusal(folder.path("")), HasSubstr("is not a regular file"));
  EXPECT_THAT(load_refusal(folder.write("empty.pt", "")), HasSubstr("is empty"));
  EXPECT_THAT(load_refusal(folder.write("old.pt", "\x80\x02}q.")), HasSubstr("is a Python pickle"));
  EXPECT_THAT(load_refusal(folder.write("text.pt", "{ \"model\": 1 }")), HasSubstr("not a zip archive"));
  EXPECT_THAT(load_refusal(folder.write("zip.pt", "PK\x03\x04 and nothing")), HasSubstr("cannot be loaded"));
}

TEST(TorchScriptFile, TellsOtherArchivesOfPyTorch) {
  const ModelFolder folder;
  const std::vector<char> pickle = torch::jit::pickle_save(c10::IValue(test::weight({2})));
  EXPECT_THAT(load_refusal(folder.write("state.pt", {pickle.begin(), pickle.end()})),
              HasSubstr("an archive of torch.save (a state dict or a pickled module), not TorchScript"));
  const std::string exported = folder.path("exported.pt2");
  {
    caffe2::serialize::PyTorchStreamWriter writer(exported);
    writer.writeRecord("models/model.json", "{}", 2);
    writer.writeEndOfFile();
  }
  EXPECT_THAT(load_refusal(exported),
              HasSubstr("an archive of torch.export, not TorchScript; name it with model.exported"));
}

TEST(TorchScriptFile, RefusesOperatorsThatAreNoTensorArithmetic) {
  EXPECT_THAT(refusal_of_source("def forward(self, x):\n  torch.save(x, \"stolen.pt\")\n  return x\n"),
              HasSubstr("uses aten::save, which is no tensor arithmetic: refused"));
  EXPECT_THAT(
      refusal_of_source("def forward(self, x):\n  return torch.from_file(\"/etc/passwd\", False, 8)\n"),
      HasSubstr("aten::from_file"));
  EXPECT_THAT(refusal_of_source("def forward(self, x):\n  print(x)\n  return x\n"), HasSubstr("prim::Print"));
  // Nested in blocks, and in a method that forward does not call.
  EXPECT_THAT(refusal_of_source("def forward(self, x):\n"
                                "  for i in range(3):\n"
                                "    if bool(x.sum() > 0):\n"
                                "      torch.save(x, \"f\")\n"
                                "  return x\n"),
              HasSubstr("aten::save"));
  EXPECT_THAT(refusal_of_source("def forward(self, x):\n  return x\n"
                                "def other(self, x):\n  torch.save(x, \"f\")\n"),
              HasSubstr("other uses aten::save"));
  EXPECT_EQ(
      refusal_of_source("def forward(self, x):\n  if bool(x.sum() > 0):\n    x = x * self.w\n  return x\n"),
      "loaded");
}

/// Whether a graph with this operator in it is refused.
bool is_refused_operator(const std::string& name) {
  torch::jit::Graph graph;
  graph.insertNode(graph.create(c10::Symbol::fromQualString(name)));
  return !refused_operator(graph).empty();
}

TEST(TorchScriptFile, RefusesEveryOperatorOfLibTorchThatNamesAFile) {
  int with_file = 0;
  for (const auto& known : torch::jit::getAllOperators()) {
    const c10::FunctionSchema& schema = known->schema();
    for (const c10::Argument& argument : schema.arguments()) {
      if (argument.name().find("file") == std::string::npos) continue;
      ++with_file;
      EXPECT_TRUE(is_refused_operator(schema.name())) << schema;
    }
  }
  EXPECT_GT(with_file, 1);  // aten::save and aten::from_file at least
  EXPECT_FALSE(is_refused_operator("aten::mm"));
  EXPECT_FALSE(is_refused_operator("prim::If"));
  EXPECT_TRUE(is_refused_operator("prim::rpc_sync"));
  EXPECT_TRUE(is_refused_operator("cuda::set_stream"));
}

TEST(TorchScriptFile, RefusesWhatIsNestedInAChild) {
  const ModelFolder folder;
  auto parent = script_module({{"w", test::weight({2})}}, "def forward(self, x):\n  return x * self.w\n");
  torch::jit::Module outer("__torch__.Outer", parent._ivalue()->compilation_unit());
  torch::jit::Module child("__torch__.Child", parent._ivalue()->compilation_unit());
  child.define("def forward(self, x):\n  torch.save(x, \"f\")\n  return x\n");
  outer.register_module("child", child);
  outer.define("def forward(self, x):\n  return self.child.forward(x)\n");
  EXPECT_THAT(load_refusal(saved(folder, outer)), HasSubstr("aten::save"));
}

TEST(TorchScriptFile, NothingRunsWhileItIsLoaded) {
  const std::string state =
      "def __getstate__(self) -> Tuple[Tensor, bool]:\n  return (self.w, self.training)\n"
      "def __setstate__(self, state: Tuple[Tensor, bool]):\n"
      "  self.training = state[1]\n";
  EXPECT_THAT(refusal_of_source("def forward(self, x):\n  return x * self.w\n" + state),
              HasSubstr("__setstate__"));
}

/// A small model's file, whole.
std::string model_bytes() {
  std::ostringstream stream;
  test::script_mlp({4, 8, 3}).save(stream);
  return stream.str();
}

/// Loads and, where that works, takes the loss once: whatever happens, it is no crash.
void try_model(const std::string& path) {
  ModelShape shape;
  shape.type = "torchscript";
  shape.torchscript = path;
  shape.loss = "cross_entropy";
  try {
    TorchScriptModel model(shape, {{}, 0, 2});
    model.loss({{torch::ones({2, 4}), torch::zeros({2}, torch::kLong)}, 2, 0, 0});
  } catch (const Error& error) {
    EXPECT_TRUE(error.code() == ExitCode::cannot_judge || error.code() == ExitCode::usage) << error.what();
    EXPECT_THAT(error.what(), Not(HasSubstr("frame #")));
  } catch (const std::exception&) {
    // of LibTorch, while the model ran: the worker reports it
  }
}

/// The same archive, record by record as `change` leaves it.
std::string rewritten(const ModelFolder& folder, const std::string& path,
                      const std::function<void(const std::string& name, std::string& bytes)>& change,
                      bool compressed = false) {
  caffe2::serialize::PyTorchStreamReader reader(path);
  const std::string result = folder.path("rewritten.pt");
  caffe2::serialize::PyTorchStreamWriter writer(result);
  for (const std::string& name : reader.getAllRecords()) {
    const auto [data, size] = reader.getRecord(name);
    std::string bytes(static_cast<const char*>(data.get()), size);
    change(name, bytes);
    if (name != "version" && name != ".data/serialization_id" && name != "byteorder") {
      writer.writeRecord(name, bytes.data(), bytes.size(), compressed);
    }
  }
  writer.writeEndOfFile();
  return result;
}

TEST(TorchScriptFile, NoTensorReachesBeyondItsValues) {
  const ModelFolder folder;
  const std::string path = saved(folder, test::script_mlp({4, 8, 3}));
  EXPECT_EQ(load_refusal(rewritten(folder, path, [](const auto&, auto&) {})), "loaded");
  const auto cut = [](const std::string& name, std::string& bytes) {
    if (name == "data/1") bytes.pop_back();
  };
  EXPECT_THAT(load_refusal(rewritten(folder, path, cut)),
              AllOf(HasSubstr("reaches beyond the values that the file holds for it"), HasSubstr("w")));
  const auto longer = [](const std::string& name, std::string& bytes) {
    if (name.rfind("data/", 0) == 0) bytes += "more";
  };
  EXPECT_EQ(load_refusal(rewritten(folder, path, longer)), "loaded");
}

TEST(TorchScriptFile, NoConstantReachesBeyondItsValues) {
  const ModelFolder folder;
  auto graph = std::make_shared<torch::jit::Graph>();
  graph->addInput("self");
  graph->registerOutput(graph->insertConstant(torch::ones({64})));
  torch::jit::Module module("__torch__.Example");
  graph->inputs().at(0)->setType(module.type());
  const auto method =
      module._ivalue()->compilation_unit()->create_function({"__torch__.Example.forward"}, graph);
  module.type()->addMethod(method);
  const std::string path = saved(folder, module);
  EXPECT_EQ(load_refusal(path), "loaded");
  const auto cut = [](const std::string& name, std::string& bytes) {
    if (name == "constants/0") bytes.resize(bytes.size() / 2);
  };
  EXPECT_THAT(load_refusal(rewritten(folder, path, cut)),
              HasSubstr("a constant of __torch__.Example.forward"));
}

TEST(TorchScriptFile, ValuesAreNotCompressed) {
  const ModelFolder folder;
  const std::string path =
      saved(folder, script_module({{"w", test::weight({4096})}, {"v", test::weight({4096})}},
                                  "def forward(self, x):\n  return x * self.w\n"));
  EXPECT_THAT(load_refusal(rewritten(
                  folder, path, [](const auto&, auto&) {}, true)),
              HasSubstr("has compressed values"));
}

TEST(TorchScriptFile, CodeUnpacksToSoMuch) {
  const ModelFolder folder;
  const std::string path = saved(folder, test::script_mlp({4, 8, 3}));
  const auto swollen = [](const std::string& name, std::string& bytes) {
    if (name.rfind("code/", 0) == 0 && name.ends_with(".py")) bytes.append(size_t{257} << 20, '\n');
  };
  EXPECT_THAT(load_refusal(rewritten(folder, path, swollen, true)),
              HasSubstr("unpacks to more than 256 MiB"));
}

TEST(TorchScriptFile, TruncatedAnywhereItIsRefused) {
  const ModelFolder folder;
  const std::string whole = model_bytes();
  EXPECT_EQ(load_refusal(folder.write("whole.pt", whole)), "loaded");
  for (size_t i = 0; i < 50; ++i) {
    const std::string path = folder.write("cut.pt", whole.substr(0, i * whole.size() / 50));
    EXPECT_NE(load_refusal(path), "loaded") << i;
  }
}

TEST(TorchScriptFile, AnyByteChangedIsNoCrash) {
  const ModelFolder folder;
  const std::string whole = model_bytes();
  std::mt19937_64 random(11);
  for (int i = 0; i < 300; ++i) {
    std::string changed = whole;
    for (uint64_t flips = 1 + random() % 4; flips > 0; --flips) {
      changed[random() % changed.size()] = static_cast<char>(random());
    }
    try_model(folder.write("changed.pt", changed));
  }
}

}  // namespace
}  // namespace flopmark
