#pragma once

#include <gtest/gtest.h>
#include <torch/types.h>

#include <cstdlib>
#include <memory>
#include <string>

#include "flopmark/error.h"
#include "plugin/checked_dataset.h"
#include "plugin/checked_model.h"
#include "plugin/option_reader.h"
#include "plugin/plugin_library.h"

namespace flopmark::test {

/// A library of tests/fakes, by what is faulty about it.
inline std::string fake_plugin(const std::string& name) {
  return std::string(FLOPMARK_FAKE_PLUGINS) + "/libflopmark-" + name + ".so";
}

/// FAULTY_PLUGIN is set while this lives.
class PluginFault {
 public:
  explicit PluginFault(const char* fault) { ::setenv("FAULTY_PLUGIN", fault, 1); }
  ~PluginFault() { ::unsetenv("FAULTY_PLUGIN"); }
  PluginFault(const PluginFault&) = delete;
  PluginFault& operator=(const PluginFault&) = delete;
};

/// What `call` is refused with, if with this code; any other std::exception's text behind "not an Error: ".
template <typename Call>
std::string refusal(Call call, ExitCode code = ExitCode::cannot_judge) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    return error.what();
  } catch (const std::exception& error) {
    return std::string("not an Error: ") + error.what();
  }
  return "not refused";
}

/// The options that ask for a fault.
inline std::string with_fault(const std::string& fault) {
  return R"({"fault": ")" + fault + "\"}";
}

/// A model or data set of the faulty plug-in, with these options.
inline std::unique_ptr<TrainableModel> faulty_model(const std::string& options,
                                                    const torch::TensorOptions& tensor = {},
                                                    const std::string& type = "model") {
  ModelShape shape;
  shape.type = "plugin";
  shape.plugin = fake_plugin("faulty-plugin");
  shape.plugin_type = type;
  shape.options.json = options;
  return make_plugin_model(shape, tensor, 0);
}
inline std::unique_ptr<Dataset> faulty_data(const std::string& options, const std::string& type = "data") {
  return make_plugin_dataset({.path = fake_plugin("faulty-plugin"), .type = type, .options = options});
}

}  // namespace flopmark::test
