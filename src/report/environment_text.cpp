#include "report/environment_text.h"

#include <fmt/format.h>

#include "hardware/environment_fields.h"
#include "report/text_layout.h"
#include "report/units.h"

namespace flopmark {
namespace {

constexpr size_t kKeyWidth = 28;

std::string field_line(std::string_view key, std::string_view value) {
  return hanging(fmt::format("{:<{}}", key, kKeyWidth), value);
}

std::string field_value(std::string_view, const std::string& value) {
  return printable(value);
}
std::string field_value(std::string_view, bool value) {
  return value ? "on" : "off";
}
std::string field_value(std::string_view key, int64_t value) {
  return key.ends_with("_bytes") ? format_bytes(static_cast<double>(value)) : format_count(value);
}
std::string field_value(std::string_view key, double value) {
  if (key.ends_with("_hz")) return format_frequency(value);
  return key.ends_with("_w") ? format_power(value) : format_rate(value);
}

template <typename T>
std::string field_lines(std::string_view key, const T& value) {
  return field_line(key, field_value(key, value));
}
template <typename T>
std::string field_lines(std::string_view key, const std::optional<T>& value) {
  return field_line(key, value ? field_value(key, *value) : "not available");
}
std::string field_lines(std::string_view, const std::map<std::string, std::string>& variables) {
  std::string lines;
  for (const auto& [name, value] : variables) lines += field_line(printable(name), printable(value));
  return lines;
}

}  // namespace

std::string environment_text(const Environment& environment) {
  std::string text;
  for_each_environment_field(
      [&](const char* key, auto field) { text += field_lines(key, environment.*field); });
  return text;
}

}  // namespace flopmark
