#include "models/exported_inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <stdexcept>

#include "config/input_list.h"
#include "config/key_value.h"
#include "flopmark/error.h"
#include "models/exported_archive.h"
#include "models/exported_samples.h"

namespace flopmark {
namespace {

using nlohmann::json;

struct NamedDtype {
  torch::Dtype dtype;
  const char* name;
};

/// As data.inputs names them.
constexpr NamedDtype kDtypeNames[] = {
    {at::kFloat, "float32"}, {at::kDouble, "float64"}, {at::kHalf, "float16"}, {at::kBFloat16, "bfloat16"},
    {at::kLong, "int64"},    {at::kInt, "int32"},      {at::kByte, "uint8"},   {at::kBool, "bool"},
};

std::string dtype_name(torch::Dtype dtype) {
  const auto* found = std::find_if(std::begin(kDtypeNames), std::end(kDtypeNames),
                                   [&](const NamedDtype& known) { return known.dtype == dtype; });
  return found == std::end(kDtypeNames) ? c10::toString(dtype) : found->name;
}

std::string text_of(const ExportedInput& input) {
  std::string sizes;
  for (const ExportedSize& size : input.sizes) {
    sizes += (sizes.empty() ? "" : ", ") + (size.symbol.empty() ? std::to_string(size.value) : size.symbol);
  }
  return fmt::format("{} [{}]", dtype_name(input.dtype), sizes);
}

std::string text_of(const torch::Tensor& tensor) {
  return fmt::format("{} {}", dtype_name(tensor.scalar_type()), c10::str(tensor.sizes()));
}

bool fits(const ExportedInput& input, const torch::Tensor& tensor) {
  if (tensor.scalar_type() != input.dtype || tensor.dim() != std::ssize(input.sizes)) return false;
  for (size_t i = 0; i < input.sizes.size(); ++i) {
    const bool fixed = input.sizes[i].symbol.empty();
    if (fixed && tensor.size(static_cast<int64_t>(i)) != input.sizes[i].value) return false;
  }
  return true;
}

/// Fits but for fewer samples than the graph holds: the batch that an epoch without drop_last ends with.
bool is_short_batch(const ExportedInput& input, const torch::Tensor& tensor) {
  if (input.sizes.empty() || !input.sizes.front().symbol.empty() || tensor.dim() == 0) return false;
  ExportedInput shorter = input;
  shorter.sizes.front().value = tensor.size(0);
  return tensor.size(0) < input.sizes.front().value && fits(shorter, tensor);
}

/// A plain symbol such as s0, not an expression of them.
bool is_symbol(const std::string& text) {
  return !text.empty() && text.find_first_of("(), *+-/") == std::string::npos;
}

std::optional<int64_t> bound(const json& range, const char* key) {
  const auto value = range.find(key);
  return value == range.end() || value->is_null() ? std::nullopt : whole_number(*value);
}

ExportedInput input_of(const json& argument, const json& tensor_values) {
  const UnionValue given = union_value(argument);
  if (given.kind != "as_tensor") {
    throw std::runtime_error(
        fmt::format("forward takes a number or object ({}), not only tensors", given.kind));
  }
  ExportedInput input{given.value.at("name").get<std::string>(), {}, {}};
  const TensorMeta meta = tensor_meta(tensor_values.at(input.name));
  input.dtype = meta.dtype;
  input.sizes = meta.sizes;
  return input;
}

bool is_constant(const std::string& kind) {
  return kind == "as_none" || kind == "as_int" || kind == "as_float" || kind == "as_bool" ||
         kind == "as_string";
}

}  // namespace

ExportedInputs::ExportedInputs(const json& program) {
  const json& module = program.at("graph_module");
  for (const json& spec : module.at("signature").at("input_specs")) {
    const UnionValue given = union_value(spec);
    if (given.kind != "user_input") continue;
    const json& argument = given.value.at("arg");
    if (is_constant(union_value(argument).kind)) continue;
    inputs_.push_back(input_of(argument, module.at("graph").at("tensor_values")));
  }
  const auto ranges = program.find("range_constraints");
  if (ranges == program.end()) return;
  for (const auto& [symbol, range] : ranges->items()) {
    ranges_[symbol] = {bound(range, "min_val"), bound(range, "max_val")};
  }
}

/// Made where it is told only: inputs are checked in every step.
std::string ExportedInputs::place_text(const Dimension& place, const std::string& path) const {
  return fmt::format("dimension {} of data.inputs[{}] ({} of {})", place.number, place.input,
                     inputs_[place.input].name, path);
}

void ExportedInputs::check_bounds(const Dimension& place, int64_t size, const std::string& path) const {
  const std::string& symbol = inputs_[place.input].sizes[place.number].symbol;
  const auto range = ranges_.find(symbol);
  if (range == ranges_.end()) return;
  const auto [least, most] = range->second;
  if ((!least || size >= *least) && (!most || size <= *most)) return;
  throw usage_error(fmt::format(
      "{} is {}, but the model was exported for {} to {} there; give another size, or export it again for "
      "this one",
      place_text(place, path), size, least.value_or(0), most ? std::to_string(*most) : "any number"));
}

void ExportedInputs::check(const std::vector<torch::Tensor>& tensors, const std::string& path) const {
  std::map<std::string, std::pair<Dimension, int64_t>> symbols;  // where each was seen first, and its size
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const ExportedInput& input = inputs_[i];
    const torch::Tensor& tensor = tensors.at(i);
    if (is_short_batch(input, tensor)) {
      throw usage_error(fmt::format(
          "a batch has {} samples, but {} was exported for {}, which its graph holds; set data.drop_last to "
          "true and data.batch_size to {}, or export it with a dynamic batch",
          tensor.size(0), path, input.sizes.front().value, input.sizes.front().value));
    }
    if (!fits(input, tensor)) {
      throw usage_error(fmt::format(
          "data.inputs[{}] is {}, but the argument {} of {} was exported as {}, which its graph holds; give "
          "that, or export it again with other sizes",
          i, text_of(tensor), input.name, path, text_of(input)));
    }
    for (size_t d = 0; d < input.sizes.size(); ++d) {
      const std::string& symbol = input.sizes[d].symbol;
      if (!is_symbol(symbol)) continue;
      const Dimension here{i, d};
      const int64_t size = tensor.size(static_cast<int64_t>(d));
      check_bounds(here, size, path);
      const auto& [first, first_size] = symbols.try_emplace(symbol, here, size).first->second;
      if (size == first_size) continue;
      throw usage_error(fmt::format(
          "{} is {}, but {} is {}, and the model was exported for equal sizes there; make them equal",
          place_text(here, path), size, place_text(first, path), first_size));
    }
  }
}

namespace {

/// Where the file does not say what data.inputs needs.
[[noreturn]] void fail_unsaid(const std::string& path, const ExportedInput& input, const std::string& why) {
  throw usage_error(
      fmt::format("model.exported {}: {} ({}) {}; give data.inputs, one entry per argument of its forward",
                  path, input.name, text_of(input), why));
}

/// Sizes with every symbol replaced: the batch's by `batch_size`, others as they were at export.
std::vector<int64_t> shape_of(const ExportedInput& input, const std::string& path, const std::string& batch,
                              int64_t batch_size) {
  std::vector<int64_t> shape;
  for (const ExportedSize& size : input.sizes) {
    if (size.symbol.empty()) {
      shape.push_back(size.value);
    } else if (batch_size > 0 && size.symbol == batch) {
      shape.push_back(batch_size);
    } else if (size.hint) {
      shape.push_back(*size.hint);
    } else {
      fail_unsaid(path, input, "has a size that is not said");
    }
  }
  return shape;
}

/// One above the largest value of the sample, so that every value is one that the model is made for.
int64_t high_of(const ExportedInput& input, const torch::Tensor& sample, const std::string& path) {
  if (!sample.defined() || sample.numel() == 0 || sample.scalar_type() != input.dtype) {
    fail_unsaid(path, input,
                "holds whole numbers whose range the file does not say (it has no sample inputs)");
  }
  constexpr int64_t kLargest = std::numeric_limits<int64_t>::max() - 1;
  return std::clamp<int64_t>(sample.max().item<int64_t>(), 0, kLargest) + 1;
}

bool has_high(torch::Dtype dtype) {
  return dtype == at::kLong || dtype == at::kInt || dtype == at::kByte;
}

void check_batch(const ExportedInput& first, int64_t batch_size, const std::string& path) {
  if (first.sizes.empty()) fail_unsaid(path, first, "has no batch");
  const ExportedSize& batch = first.sizes.front();
  if (batch_size == 0 || !batch.symbol.empty() || batch.value == batch_size) return;
  throw usage_error(fmt::format(
      "data.batch_size is {}, but {} was exported with {} ({} is {}), which its graph holds; remove "
      "data.batch_size, or export the model with that batch",
      batch_size, path, batch.value, first.name, text_of(first)));
}

/// Reads an archive's inputs and what more `read` makes of them.
template <typename Read>
auto read_archive(const std::string& path, int64_t batch_size, Read read) {
  ExportedArchive archive(path);
  try {
    const ExportedInputs inputs(archive.graph());
    if (inputs.all().empty()) archive.file().refuse("takes no tensors; export a forward that does");
    check_batch(inputs.all().front(), batch_size, path);
    return read(archive, inputs.all());
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    archive.file().refuse(error);
  }
}

json input_entry(const ExportedInput& input, const torch::Tensor& sample, std::vector<int64_t> shape,
                 const std::string& path) {
  json entry = {{"shape", std::move(shape)}, {"dtype", dtype_name(input.dtype)}};
  if (has_high(input.dtype)) entry["high"] = high_of(input, sample, path);
  return entry;
}

}  // namespace

std::vector<InputSpec> exported_data_inputs(const std::string& path, int64_t batch_size) {
  return read_archive(
      path, batch_size, [&](ExportedArchive& archive, const std::vector<ExportedInput>& inputs) {
        const std::vector<torch::Tensor> samples = sample_inputs(archive);
        const std::string& batch = inputs.front().sizes.front().symbol;
        json list = json::array();
        for (size_t i = 0; i < inputs.size(); ++i) {
          const torch::Tensor sample = samples.size() == inputs.size() ? samples[i] : torch::Tensor();
          list.push_back(input_entry(inputs[i], sample, shape_of(inputs[i], path, batch, batch_size), path));
        }
        std::vector<InputSpec> specs;
        const std::string problem = read_inputs(list, "inputs of its forward", specs);
        if (!problem.empty()) {
          throw usage_error(
              fmt::format("model.exported {}: {}; random data cannot be made of that", path, problem));
        }
        return specs;
      });
}

int64_t exported_batch_size(const std::string& path, int64_t batch_size) {
  return read_archive(path, batch_size, [&](ExportedArchive&, const std::vector<ExportedInput>& inputs) {
    const ExportedInput& first = inputs.front();
    const int64_t batch = shape_of(first, path, first.sizes.front().symbol, batch_size).front();
    if (batch < 1) fail_unsaid(path, first, "has an empty batch");
    return batch;
  });
}

}  // namespace flopmark
