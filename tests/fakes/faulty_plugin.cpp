// A plug-in that goes wrong on purpose. The variable FAULTY_PLUGIN: throw, throw_int, null, sdk, libtorch,
// abi, twice, crash, abort go wrong in its entry point. Its models and data sets go wrong by their names and
// by their option "fault".
#include <torch/types.h>

#include <csignal>
#include <cstdlib>
#include <limits>
#include <stdexcept>

#include "flopmark/plugin.h"

namespace {

using flopmark::Batch;

/// What a call number, counted from 1, does wrong by the options "fault" and "at".
struct Fault {
  std::string kind;
  int64_t at = 1;

  explicit Fault(const flopmark::PluginOptions& options)
      : kind(options.text("fault", "none")), at(options.integer("at", 1, 1)) {}

  void strike(int64_t call) const {
    if (call != at) return;
    if (kind == "throw") throw std::runtime_error("a fault on purpose");
    if (kind == "throw_empty") throw std::runtime_error("");
    if (kind == "throw_int") throw 42;
    if (kind == "throw_torch") TORCH_CHECK(false, "sizes do not fit");
    if (kind == "usage") throw flopmark::usage_error("the batch is too small");
    if (kind == "ok") throw flopmark::Error(flopmark::ExitCode::ok, "all is well");
    if (kind == "oom") torch::empty({int64_t{1} << 50});
    if (kind == "crash") ::raise(SIGSEGV);
    if (kind == "abort") ::raise(SIGABRT);
    if (kind == "exit") std::exit(0);
    if (kind == "exit_at_once") std::_Exit(0);
  }
};

/// Loss: the mean of x w.
class FaultyModel : public flopmark::TrainableModel {
 public:
  FaultyModel(const Fault& fault, const torch::TensorOptions& tensor)
      : fault_(fault), weight_(torch::ones({4}, tensor).requires_grad_()) {}

  torch::Tensor loss(const Batch& batch) override {
    fault_.strike(++calls_);
    const torch::Tensor product = batch.inputs.at(0).to(weight_.scalar_type()) * weight_;
    if (fault_.kind == "many_values") return product;
    if (fault_.kind == "detached") return product.mean().detach();
    if (fault_.kind == "undefined_loss") return {};
    if (fault_.kind == "one_by_one") return product.mean().reshape({1, 1}).to(torch::kDouble);
    if (fault_.kind == "nan" && calls_ == fault_.at) {
      return product.mean() * std::numeric_limits<double>::quiet_NaN();
    }
    return product.mean();
  }
  std::vector<torch::Tensor> parameters() override {
    const std::string& kind = fault_.kind;
    if (kind == "parameters_throw") throw std::runtime_error("no parameters today");
    if (kind == "no_parameters") return {};
    if (kind == "frozen") return {weight_.detach()};
    if (kind == "partly_frozen") return {torch::ones({9}), weight_, weight_};
    if (kind == "undefined_parameter") return {weight_, {}};
    if (kind == "computed_parameter") return {weight_ * 2};
    if (kind == "other_type") return {torch::ones({2}, torch::kDouble).requires_grad_()};
    if (kind == "elsewhere") return {torch::ones({2}, torch::kMeta).requires_grad_()};
    return {weight_};
  }

 private:
  Fault fault_;
  torch::Tensor weight_;
  int64_t calls_ = 0;
};

/// Rows of four ones, from one thread in the tests.
class FaultyData : public flopmark::Dataset {
 public:
  explicit FaultyData(const Fault& fault) : fault_(fault) {}
  int64_t size() const override {
    if (fault_.kind == "size_throws") throw std::runtime_error("cannot count");
    return fault_.kind == "empty" ? 0 : 64;
  }
  Batch collate(const std::vector<size_t>& indices) const override {
    fault_.strike(++calls_);
    const auto rows = static_cast<int64_t>(indices.size());
    Batch batch;
    batch.inputs = {torch::ones({rows, 4}), torch::ones({rows})};
    batch.samples = fault_.kind == "no_samples" ? 0 : fault_.kind == "too_many" ? rows + 1 : rows;
    if (fault_.kind == "no_tensors") batch.inputs.clear();
    if (fault_.kind == "undefined_tensor") batch.inputs[1].reset();
    if (fault_.kind == "not_on_host") batch.inputs[0] = torch::empty({rows, 4}, torch::kMeta);
    return batch;
  }
  Facts facts() const override {
    Facts facts;
    if (fault_.kind == "has_facts") facts = {.path = "here", .format = "fake", .hash = "abc", .tokens = 7};
    return facts;
  }

 private:
  Fault fault_;
  mutable int64_t calls_ = 0;
};

std::unique_ptr<flopmark::TrainableModel> make_model(const flopmark::ModelRequest& request) {
  return std::make_unique<FaultyModel>(Fault(request.options), request.tensor);
}
std::unique_ptr<flopmark::TrainableModel> make_nothing(const flopmark::ModelRequest&) {
  return nullptr;
}
std::unique_ptr<flopmark::TrainableModel> make_error(const flopmark::ModelRequest& request) {
  Fault(request.options).strike(1);
  throw std::invalid_argument("cannot be made");
}
std::unique_ptr<flopmark::Dataset> make_data(const flopmark::DatasetRequest& request) {
  return std::make_unique<FaultyData>(Fault(request.options));
}
std::unique_ptr<flopmark::Dataset> make_no_data(const flopmark::DatasetRequest&) {
  return nullptr;
}

}  // namespace

extern "C" const flopmark::Plugin* flopmark_plugin() {
  const char* variable = std::getenv("FAULTY_PLUGIN");
  const std::string fault = variable == nullptr ? "none" : variable;
  if (fault == "throw") throw std::runtime_error("a fault on purpose");
  if (fault == "throw_int") throw 42;
  if (fault == "null") return nullptr;
  if (fault == "crash") ::raise(SIGSEGV);
  if (fault == "abort") ::raise(SIGABRT);
  auto* plugin = new flopmark::Plugin{.models = {{"model", make_model},
                                                 {"nothing", make_nothing},
                                                 {"error", make_error},
                                                 {"no_factory", nullptr}},
                                      .datasets = {{"data", make_data}, {"nothing", make_no_data}}};
  if (fault == "sdk") plugin->build.sdk = 77;
  if (fault == "libtorch") plugin->build.libtorch = "1.13.1";
  if (fault == "abi") plugin->build.cxx11_abi = 1 - plugin->build.cxx11_abi;
  if (fault == "twice") plugin->models.push_back({"model", make_model});
  return plugin;
}
