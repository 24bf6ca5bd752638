// A model and a data set of your own, each with an option. README, "A plug-in in C++", builds and measures
// them.
#include <flopmark/plugin.h>
#include <torch/nn.h>

namespace {

/// Two linear layers that tell points of the plane apart.
class TwoLayers : public flopmark::TrainableModel {
 public:
  TwoLayers(int64_t width, const torch::TensorOptions& tensor)
      : dtype_(c10::typeMetaToScalarType(tensor.dtype())),
        net_(torch::nn::Linear(2, width), torch::nn::ReLU(), torch::nn::Linear(width, 2)) {
    net_->to(tensor.device(), dtype_);
  }
  torch::Tensor loss(const flopmark::Batch& batch) override {
    const torch::Tensor scores = net_->forward(batch.inputs[0].to(dtype_));
    return torch::nn::functional::cross_entropy(scores, batch.inputs[1]);
  }
  std::vector<torch::Tensor> parameters() override { return net_->parameters(); }

 private:
  torch::Dtype dtype_;
  torch::nn::Sequential net_;
};

/// Points on two spirals; the label says on which.
class Spirals : public flopmark::Dataset {
 public:
  Spirals(int64_t samples, int64_t seed) {
    const auto generator = at::detail::createCPUGenerator(static_cast<uint64_t>(seed));
    labels_ = torch::randint(2, {samples}, generator, torch::kLong);
    const torch::Tensor radius = torch::rand({samples}, generator);
    const torch::Tensor angle = radius * 7.0 + labels_ * M_PI;
    points_ = torch::stack({radius * angle.cos(), radius * angle.sin()}, 1);
  }
  int64_t size() const override { return labels_.size(0); }
  flopmark::Batch collate(const std::vector<size_t>& indices) const override {
    const torch::Tensor rows = torch::tensor(std::vector<int64_t>(indices.begin(), indices.end()));
    flopmark::Batch batch;
    batch.inputs = {points_.index_select(0, rows), labels_.index_select(0, rows)};
    batch.samples = rows.size(0);
    return batch;
  }

 private:
  torch::Tensor labels_, points_;
};

std::unique_ptr<flopmark::TrainableModel> make_two_layers(const flopmark::ModelRequest& request) {
  return std::make_unique<TwoLayers>(request.options.integer("width", 64, 1, 65536), request.tensor);
}

std::unique_ptr<flopmark::Dataset> make_spirals(const flopmark::DatasetRequest& request) {
  return std::make_unique<Spirals>(request.options.integer("samples", 4096, 1), request.seed);
}

}  // namespace

extern "C" const flopmark::Plugin* flopmark_plugin() {
  static const flopmark::Plugin plugin{.models = {{"two_layers", make_two_layers}},
                                       .datasets = {{"spirals", make_spirals}}};
  return &plugin;
}
