#pragma once

#include <gtest/gtest.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/types.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

namespace flopmark::test {

/// A folder of its own for model files, removed afterwards.
class ModelFolder {
 public:
  ModelFolder() {
    std::string name = ::testing::TempDir() + "flopmark-models-XXXXXX";
    folder_ = ::mkdtemp(name.data());
  }
  ~ModelFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  ModelFolder(const ModelFolder&) = delete;
  ModelFolder& operator=(const ModelFolder&) = delete;

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::string write(const std::string& name, const std::string& bytes) const {
    std::ofstream(path(name), std::ios::binary | std::ios::trunc) << bytes;
    return path(name);
  }

 private:
  std::filesystem::path folder_;
};

using Parameters = std::vector<std::pair<std::string, torch::Tensor>>;

/// A module whose methods are written in `source`; its parameters start from a fixed seed.
inline torch::jit::Module script_module(const Parameters& parameters, const std::string& source) {
  torch::jit::Module module("__torch__.Example");
  module.register_attribute("training", c10::BoolType::get(), true);
  for (const auto& [name, value] : parameters) module.register_parameter(name, value, /*is_buffer=*/false);
  module.define(source);
  return module;
}

/// Small random values that require a gradient.
inline torch::Tensor weight(at::IntArrayRef sizes, uint64_t seed = 1) {
  const auto generator = at::detail::createCPUGenerator(seed);
  return torch::randn(sizes, generator).mul_(0.1).requires_grad_();
}

/// Linear layers `widths` with ReLU between them, whose forward gives logits.
inline torch::jit::Module script_mlp(const std::vector<int64_t>& widths) {
  Parameters parameters;
  std::string source = "def forward(self, x):\n";
  for (size_t i = 1; i < widths.size(); ++i) {
    const std::string number = std::to_string(i);
    parameters.emplace_back("w" + number, weight({widths[i], widths[i - 1]}, i));
    parameters.emplace_back("b" + number, weight({widths[i]}, 100 + i));
    if (i > 1) source += "  x = torch.relu(x)\n";
    source += "  x = torch.linear(x, self.w" + number + ", self.b" + number + ")\n";
  }
  return script_module(parameters, source + "  return x\n");
}

}  // namespace flopmark::test
