#include "models/models.h"

#include <fmt/format.h>

#include "flopmark/error.h"
#include "models/bert.h"
#include "models/convnet.h"
#include "models/exported_model.h"
#include "models/gpt2.h"
#include "models/llama.h"
#include "models/lstm.h"
#include "models/mlp.h"
#include "models/resnet.h"
#include "models/torchscript_model.h"
#include "models/vit.h"
#include "plugin/checked_model.h"

namespace flopmark {
namespace {

template <class Model>
std::unique_ptr<TrainableModel> make(const ModelShape& shape, const ModelOptions& options) {
  return std::make_unique<Model>(shape, options);
}

struct ModelType {
  const char* name;
  InputKind input;
  std::unique_ptr<TrainableModel> (*make)(const ModelShape&, const ModelOptions&);
};

/// Every built-in model; a new one is a line here.
constexpr ModelType kModelTypes[] = {
    {"llama", InputKind::tokens, make<Llama>},     {"gpt2", InputKind::tokens, make<Gpt2>},
    {"mlp", InputKind::images, make<Mlp>},         {"resnet", InputKind::images, make<Resnet>},
    {"vit", InputKind::images, make<Vit>},         {"bert", InputKind::tokens, make<Bert>},
    {"convnet", InputKind::images, make<Convnet>}, {"mixtral", InputKind::tokens, make<Llama>},
    {"lstm", InputKind::tokens, make<Lstm>},
};

const ModelType& find_type(const std::string& name) {
  std::string known;
  for (const auto& type : kModelTypes) {
    if (name == type.name) {
      return type;
    }
    known += (known.empty() ? "" : ", ") + std::string(type.name);
  }
  throw usage_error(fmt::format("model.type: unknown \"{}\"; known are {}", name, known));
}

}  // namespace

std::unique_ptr<TrainableModel> make_model(const ModelShape& shape, const ModelOptions& options) {
  if (shape.type == "torchscript") {
    return std::make_unique<TorchScriptModel>(shape, options);
  }
  if (shape.type == "exported") {
    return std::make_unique<ExportedModel>(shape, options);
  }
  if (shape.type == "plugin") {
    return make_plugin_model(shape, options.tensor, options.seed);
  }
  return find_type(shape.type).make(shape, options);
}

InputKind input_kind(const ModelShape& shape) {
  return find_type(shape.type).input;
}

}  // namespace flopmark
