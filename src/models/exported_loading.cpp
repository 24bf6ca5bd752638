#include "models/exported_loading.h"

#include <fmt/format.h>

#include <map>
#include <stdexcept>
#include <unordered_set>

#include "config/key_value.h"
#include "flopmark/error.h"
#include "models/exported_archive.h"
#include "models/exported_graph.h"
#include "models/exported_tensors.h"

namespace flopmark {
namespace {

using nlohmann::json;

/// Loads one model; its steps are called in the order in which they stand here.
class Loading {
 public:
  Loading(ExportedArchive& archive, const json& program, const torch::Device& device)
      : module_(program.at("graph_module")),
        tensors_(archive, device),
        compiler_(device),
        loaded_{.inputs = ExportedInputs(program)} {}

  void define_stored() {
    for (const json& spec : module_.at("signature").at("input_specs")) {
      const UnionValue given = union_value(spec);
      if (given.kind == "parameter") {
        add_once(store(given.value, "parameter_name"), loaded_.parameters);
      } else if (given.kind == "buffer") {
        const auto name = given.value.at("buffer_name").get<std::string>();
        buffer_slots_[name] = static_cast<int>(loaded_.stored.size());
        add_once(store(given.value, "buffer_name"), loaded_.buffers);
      } else if (given.kind == "tensor_constant") {
        store(given.value, "tensor_constant_name");
      } else if (given.kind != "user_input" && given.kind != "constant_input") {
        throw std::runtime_error(
            fmt::format("takes an input of the kind {}, which is not read here; export the model without it",
                        given.kind));
      }
    }
  }

  void define_inputs() {
    for (const ExportedInput& input : loaded_.inputs.all()) {
      loaded_.input_slots.push_back(compiler_.define(input.name));
    }
  }

  void add_graph() { compiler_.add_nodes(module_.at("graph")); }

  void find_results() {
    bool has_result = false;
    for (const json& spec : module_.at("signature").at("output_specs")) {
      const UnionValue given = union_value(spec);
      if (given.kind == "loss_output") {
        loaded_.loss_slot = compiler_.slot(given.value.at("arg").at("name").get<std::string>());
        has_result = true;
      } else if (given.kind == "user_output" && !has_result) {
        loaded_.loss_slot = result_slot(given.value.at("arg"));
        has_result = true;
      } else if (given.kind == "buffer_mutation") {
        add_mutation(given.value);
      } else if (given.kind.rfind("gradient_", 0) == 0 || given.kind == "parameter_mutation") {
        throw std::runtime_error(fmt::format(
            "has results of the kind {}: it is a graph that trains itself; export the forward alone",
            given.kind));
      }
    }
  }

  LoadedExport finish() {
    loaded_.program = compiler_.take();
    std::vector<int> results = {loaded_.loss_slot};
    for (const auto& [buffer, value] : loaded_.mutations) results.push_back(value);
    loaded_.first_mortal = static_cast<int>(loaded_.stored.size());
    loaded_.program.plan_deaths(loaded_.first_mortal, results);
    return std::move(loaded_);
  }

 private:
  torch::Tensor store(const json& spec, const char* name_key) {
    compiler_.define(spec.at("arg").at("name").get<std::string>());
    torch::Tensor tensor = tensors_.find(spec.at(name_key).get<std::string>());
    loaded_.stored.emplace_back(tensor);
    return tensor;
  }

  void add_once(const torch::Tensor& tensor, std::vector<torch::Tensor>& list) {
    if (seen_.insert(tensor.unsafeGetTensorImpl()).second) list.push_back(tensor);
  }

  int result_slot(const json& argument) const {
    const UnionValue given = union_value(argument);
    return given.kind == "as_tensor" ? compiler_.slot(given.value.at("name").get<std::string>()) : -1;
  }

  void add_mutation(const json& spec) {
    const auto buffer = buffer_slots_.find(spec.at("buffer_name").get<std::string>());
    if (buffer == buffer_slots_.end()) {
      throw std::runtime_error(fmt::format("changes the buffer {}, which it does not have",
                                           quoted_text(spec.at("buffer_name").get<std::string>())));
    }
    const int value = compiler_.slot(spec.at("arg").at("name").get<std::string>());
    if (value != buffer->second) loaded_.mutations.emplace_back(buffer->second, value);
  }

  const json& module_;
  ExportedTensors tensors_;
  GraphCompiler compiler_;
  LoadedExport loaded_;
  std::map<std::string, int> buffer_slots_;
  std::unordered_set<const c10::TensorImpl*> seen_;
};

}  // namespace

LoadedExport load_export(const std::string& path, const torch::Device& device) {
  ExportedArchive archive(path);
  try {
    const json program = archive.graph();
    Loading loading(archive, program, device);
    loading.define_stored();
    loading.define_inputs();
    loading.add_graph();
    loading.find_results();
    return loading.finish();
  } catch (const Error&) {
    throw;
  } catch (const std::runtime_error& error) {
    archive.file().refuse(reason_line(error));
  } catch (const std::exception& error) {
    archive.file().refuse(error);
  }
}

}  // namespace flopmark
