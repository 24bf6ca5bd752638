#include "report/inspection_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "measure/json_fields.h"
#include "report/text_layout.h"
#include "report/units.h"

namespace flopmark {
namespace {

using nlohmann::json;

constexpr size_t kShownClasses = 10;

std::string line(const char* label, const std::string& value) {
  return value.empty() ? "" : hanging(fmt::format("{:<9}", label), value);
}

std::string config_lines(const json& value) {
  return value.is_null() ? "" : value.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

std::string range_text(const std::optional<int64_t>& low, const std::optional<int64_t>& high) {
  return low && high ? fmt::format("{} to {}", *low, *high) : "";
}

std::string samples_text(const Inspection& found) {
  if (!found.samples) return "";
  const bool sequences = found.tokens && found.config.is_object();
  const std::string of =
      sequences
          ? fmt::format(" of {} tokens", found.config.at("/data/sequence_length"_json_pointer).get<int64_t>())
          : "";
  return format_count(*found.samples) + of;
}

std::string classes_text(const Inspection& found) {
  if (!found.label_count) return "";
  std::string names;
  for (size_t i = 0; i < std::min(kShownClasses, found.classes.size()); ++i) {
    names += (i == 0 ? ": " : ", ") + printable(found.classes[i]);
  }
  return format_count(*found.label_count) + names + (found.classes.size() > kShownClasses ? ", ..." : "");
}

std::string tensor_text(const TensorFacts& facts) {
  const std::string range = range_text(facts.low, facts.high);
  return fmt::format("{}{} [{}]{}", facts.name.empty() ? "" : printable(facts.name) + " ", facts.dtype,
                     fmt::join(facts.shape, ", "), range.empty() ? "" : ", values " + range);
}

json tensor_json(const TensorFacts& facts) {
  return {{"name", facts.name.empty() ? json(nullptr) : json(facts.name)},
          {"dtype", facts.dtype},
          {"shape", facts.shape},
          {"low", nullable(facts.low)},
          {"high", nullable(facts.high)}};
}

}  // namespace

std::string inspection_text(const Inspection& found) {
  std::string text =
      printable(found.path) + "\n" + line("what", printable(found.kind)) +
      line("samples", samples_text(found)) + line("tokens", found.tokens ? format_count(*found.tokens) : "") +
      line("ids", range_text(found.low_id, found.high_id)) + line("classes", classes_text(found));
  for (const TensorFacts& facts : found.tensors) text += line("tensor", tensor_text(facts));
  text += line("note", printable(found.advice));
  if (found.data_type.empty() && found.config.is_null()) return text + line("config", "none reads it");
  return text + (found.config.is_null() ? "" : "config\n") + config_lines(found.config);
}

json inspection_json(const Inspection& found) {
  json tensors = json::array();
  for (const TensorFacts& facts : found.tensors) tensors.push_back(tensor_json(facts));
  const auto text = [](const std::string& value) { return value.empty() ? json(nullptr) : json(value); };
  return {{"path", found.path},
          {"kind", found.kind},
          {"data_type", text(found.data_type)},
          {"format", text(found.format)},
          {"samples", nullable(found.samples)},
          {"tokens", nullable(found.tokens)},
          {"low_id", nullable(found.low_id)},
          {"high_id", nullable(found.high_id)},
          {"classes", found.classes},
          {"label_count", nullable(found.label_count)},
          {"tensors", std::move(tensors)},
          {"advice", text(found.advice)},
          {"config", found.config}};
}

}  // namespace flopmark
