// Makes a TorchScript model from its source, as a build does: script_model SOURCE OUT.pt
// A line "# parameter NAME ROWS COLUMNS" of the source is a weight matrix of the module, "# counter NAME" a whole
// number that starts at 0; equal sources give equal bytes.
#include <torch/script.h>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>

int main(int argc, char** argv) {
  std::ifstream source(argc == 3 ? argv[1] : "");
  if (!source) {
    std::fputs("usage: script_model SOURCE OUT.pt\n", stderr);
    return 2;
  }
  torch::manual_seed(1);
  torch::jit::Module module("Model");
  std::string code;
  for (std::string line; std::getline(source, line); code += line + "\n") {
    std::istringstream words(line);
    std::string hash, keyword, name;
    int64_t rows = 0, columns = 0;
    if (!(words >> hash >> keyword >> name) || hash != "#") continue;
    if (keyword == "counter") module.register_buffer(name, torch::zeros({}, torch::kLong));
    if (keyword != "parameter" || !(words >> rows >> columns)) continue;
    const auto weight = torch::randn({rows, columns}) * std::sqrt(2.0 / static_cast<double>(rows));
    module.register_parameter(name, weight.detach().requires_grad_(true), false);
  }
  try {
    module.define(code);
    module.save(argv[2]);
  } catch (const c10::Error& error) {
    std::fprintf(stderr, "%s: %s\n", argv[1], error.what_without_backtrace());
    return 1;
  } catch (const std::exception& error) {  // of the source itself
    std::fprintf(stderr, "%s: %s\n", argv[1], error.what());
    return 1;
  }
  return 0;
}
