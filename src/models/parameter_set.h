#pragma once

#include <torch/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace flopmark {

/// How a parameter starts: a constant, normal(0, scale) or uniform(-scale, scale).
struct InitialValue {
  enum class Kind { constant, normal, uniform };
  Kind kind = Kind::constant;
  double scale = 0;  ///< the constant, the standard deviation or the bound

  static InitialValue constant(double value) { return {Kind::constant, value}; }
  static InitialValue normal(double deviation) { return {Kind::normal, deviation}; }
  static InitialValue uniform(double bound) { return {Kind::uniform, bound}; }
};

struct NamedParameter {
  std::string name;  ///< module path, such as layers.0.attention.wq.weight
  torch::Tensor value;
};

/// Creates a model's parameters where they are to live (cpu, cuda, meta; any dtype) and gives them initial
/// values that follow from the seed and the place of the parameter in the set only: not from threads, dtype,
/// memory format or device.
class ParameterSet {
 public:
  /// `channels_last`: tensors of four dimensions lie in memory with their second dimension last.
  explicit ParameterSet(const torch::TensorOptions& options, bool channels_last = false)
      : options_(options.requires_grad(true)), channels_last_(channels_last) {}

  /// A new leaf that requires a gradient, its memory not yet filled.
  torch::Tensor create(const std::string& name, at::IntArrayRef sizes, const InitialValue& initial);
  /// Fills all parameters; large ones with as many threads as LibTorch may use. Does nothing on meta.
  void initialise(int64_t seed);

  const std::vector<NamedParameter>& all() const { return parameters_; }
  /// Those of one module: names that start with `path` and a dot.
  std::vector<torch::Tensor> below(const std::string& path) const;
  const torch::TensorOptions& options() const { return options_; }

 private:
  torch::TensorOptions options_;
  bool channels_last_;
  std::vector<NamedParameter> parameters_;
  std::vector<InitialValue> initial_;
};

}  // namespace flopmark
