#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/commands.h"
#include "cli/terminal.h"
#include "config/key_table.h"
#include "config/presets.h"
#include "flops/closed_form.h"
#include "report/text_layout.h"
#include "report/units.h"

namespace flopmark {
namespace {

struct ListOptions {
  std::string format = "text";
};

/// The values a key may have, from the table that parses configs.
std::vector<std::string> values_of(const std::string& key) {
  const KeyRow* row = find_key(key);
  if (row == nullptr) throw std::logic_error("no config key " + key);
  return row->values;
}

/// Kinds of things a config chooses from: key in JSON, label, values.
struct Choice {
  const char* key;
  const char* label;
  std::vector<std::string> values;
};

std::vector<Choice> choices() {
  return {{"data_types", "data", values_of("data.type")},
          {"optimizers", "optimizers", values_of("train.optimizer.type")},
          {"precisions", "precisions", values_of("train.precision")},
          {"devices", "devices", {"auto", "cpu", "cuda", "cuda:N"}}};
}

nlohmann::json list_json() {
  nlohmann::json document;
  for (const std::string& type : model_types()) {
    nlohmann::json presets = nlohmann::json::array();
    for (const ModelShape& shape : model_presets()) {
      if (shape.type != type) continue;
      presets.push_back({{"name", shape.preset}, {"parameters", count_parameters(shape)}});
      if (shape.experts > 0) presets.back()["active_parameters"] = count_active_parameters(shape);
    }
    document["models"].push_back({{"type", type}, {"presets", presets}});
  }
  for (const Choice& choice : choices()) document[choice.key] = choice.values;
  return document;
}

std::string list_text() {
  std::vector<TableRow> rows;
  for (const std::string& type : model_types()) {
    for (const ModelShape& shape : model_presets()) {
      if (shape.type != type) continue;
      const std::string active =
          shape.experts > 0 ? fmt::format("; {} per token", format_count(count_active_parameters(shape)))
                            : "";
      rows.push_back(
          {"  " + shape.preset, format_count(count_parameters(shape)), "parameters, type " + type + active});
    }
  }
  std::string text = "model presets\n" + format_table(rows) + "\n";
  for (const Choice& choice : choices()) {
    std::string values;
    for (const std::string& value : choice.values) values += (values.empty() ? "" : ", ") + value;
    text += hanging(fmt::format("{:<12}", choice.label), values);
  }
  return text + "\ntf32 and cuda need a GPU. Keys and their meaning: flopmark run --help-config\n";
}

}  // namespace

void setup_list(CLI::App& app, Invocation& invocation) {
  const auto options = std::make_shared<ListOptions>();
  CLI::App* command = app.add_subcommand("list", "List built-in models, data types, optimizers, precisions");
  command->add_option("--format", options->format, "Form of the list")
      ->check(CLI::IsMember({"text", "json"}));
  command->footer("Example:\n  flopmark list --format json");
  command->callback([options, &invocation] {
    invocation.action = [options] {
      write_output(options->format == "json" ? list_json().dump(2) + "\n" : list_text());
      return ExitCode::ok;
    };
  });
}

}  // namespace flopmark
