#include "config/config_layer.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <optional>
#include <sstream>

#include "config/key_hint.h"
#include "config/key_value.h"
#include "config/strict_json.h"
#include "flopmark/error.h"

namespace flopmark {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// Far above any config, far below what would hurt: a data file given by mistake is refused, not read.
constexpr uintmax_t kLargestFileBytes = 262144;

std::string origin_of(const LayerSource& source, const std::string& key) {
  const auto line = source.lines.find(key);
  return line == source.lines.end() ? source.name : fmt::format("{}:{}", source.name, line->second);
}

void add_member(const std::string& key, const json& value, const LayerSource& source, ConfigLayer& layer);

void add_section(const std::string& path, const json& object, const LayerSource& source, ConfigLayer& layer) {
  if (!object.is_object()) {
    throw usage_error(fmt::format("{}: {}: found {}, expected an object of keys", origin_of(source, path),
                                  path.empty() ? "the config" : path, found_text(object)));
  }
  for (const auto& [name, value] : object.items()) {
    const bool special = path.empty() && (name == "$schema" || name == "extends");
    if (special) continue;
    const std::string key = path.empty() ? name : fmt::format("{}.{}", path, name);
    const bool dotted = name.find('.') != std::string::npos;
    if (dotted || (find_key(key) == nullptr && !is_section(key)) || name.empty()) {
      throw usage_error(fmt::format("{}: unknown key {}; {}", origin_of(source, key), quoted_text(key),
                                    unknown_key_advice(path, name)));
    }
    add_member(key, value, source, layer);
  }
}

void add_member(const std::string& key, const json& value, const LayerSource& source, ConfigLayer& layer) {
  if (is_section(key)) return add_section(key, value, source, layer);
  const KeyRow* row = find_key(key);
  RunConfig scratch;
  if (!assign_value(*row, value, scratch)) {
    throw usage_error(fmt::format("{}: {}", origin_of(source, key), refusal_text(*row, value)));
  }
  GivenValue& given = layer[key];
  json merged = value;
  if (is_options(*row) && given.row != nullptr) {  // as with nested keys: what is not given again holds
    merged = std::move(given.value);
    merged.update(value, /*merge_objects=*/true);
  }
  given = {row, std::move(merged), origin_of(source, key), source.folder};
}

/// @throws Error 200 if `file` is not a regular file of a config's size.
void check_file(const fs::path& file, const std::string& wanted_by) {
  std::error_code error;
  const fs::file_status status = fs::status(file, error);
  const std::string name = (file.empty() ? "\"\"" : file.string()) + wanted_by;
  if (status.type() == fs::file_type::not_found) {
    throw usage_error(fmt::format("{}: no such config file; check the path", name));
  }
  if (error) throw usage_error(fmt::format("{}: cannot be read: {}", name, error.message()));
  if (fs::is_directory(status))
    throw usage_error(fmt::format("{}: is a folder; name a config file in it", name));
  if (!fs::is_regular_file(status)) throw usage_error(fmt::format("{}: is not a regular file", name));
  const uintmax_t bytes = fs::file_size(file, error);
  if (!error && bytes > kLargestFileBytes) {
    throw usage_error(fmt::format("{}: has {} bytes, a config has at most {}; is this a config?", name, bytes,
                                  kLargestFileBytes));
  }
}

std::string read_text(const fs::path& file, const std::string& wanted_by) {
  check_file(file, wanted_by);
  errno = 0;
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  if (stream && stream.peek() != std::ifstream::traits_type::eof()) text << stream.rdbuf();
  if (!stream.is_open() || stream.bad() || text.bad()) {
    throw usage_error(
        fmt::format("{}{}: cannot be read: {}", file.string(), wanted_by, std::strerror(errno)));
  }
  return text.str();
}

struct ConfigFile {
  json value;
  LayerSource source;
  std::optional<std::string> extends;
};

std::optional<std::string> extends_of(const json& value, const LayerSource& source) {
  for (const char* key : {"$schema", "extends"}) {
    const auto found = value.find(key);
    if (found == value.end()) continue;
    const bool usable = found->is_string() && !found->get_ref<const std::string&>().empty() &&
                        found->get_ref<const std::string&>().find('\0') == std::string::npos;
    if (!usable) {
      throw usage_error(fmt::format("{}: {}: found {}, expected the path of a file", origin_of(source, key),
                                    key, found_text(*found)));
    }
  }
  const auto found = value.find("extends");
  return found == value.end() ? std::nullopt : std::optional(found->get<std::string>());
}

/// `file` as it was given, for messages; its folder absolute, for what is relative to it.
ConfigFile read_file(const fs::path& file, const std::string& wanted_by) {
  JsonDocument document = parse_strict_json(read_text(file, wanted_by), file.string());
  std::error_code error;
  const fs::path absolute = fs::absolute(file, error);
  ConfigFile result{std::move(document.value),
                    {file.string(), std::move(document.lines), error ? fs::path() : absolute.parent_path()},
                    std::nullopt};
  if (result.value.is_object()) result.extends = extends_of(result.value, result.source);
  return result;
}

/// The real path of a file, by which a circle is noticed however it is written.
fs::path identity_of(const fs::path& file) {
  std::error_code error;
  fs::path real = fs::weakly_canonical(file, error);
  return error ? file : real;
}

void check_circle(const std::vector<fs::path>& chain, const fs::path& next) {
  for (size_t i = 0; i < chain.size(); ++i) {
    if (identity_of(chain[i]) != identity_of(next)) continue;
    std::string text;
    for (const fs::path& file : chain) text += file.string() + " -> ";
    throw usage_error(fmt::format("{}: \"extends\" goes in a circle: {}{}; remove one of them",
                                  chain.back().string(), text, next.string()));
  }
}

/// What follows "key=": JSON, or a text as it is.
json set_value(const KeyRow* row, const std::string& text, const std::string& source) {
  const bool is_text_key = row != nullptr && std::holds_alternative<std::string& (*)(RunConfig&)>(row->field);
  // An array or object that does not parse is a slip, not a text: the parser says where.
  const bool looks_like_json = !is_text_key && (text.find('[') == 0 || text.find('{') == 0);
  if (!looks_like_json && !json::accept(text)) return text;
  json value = parse_strict_json(text, source).value;
  // name=2024 and data.path=7 mean the text, whatever else it could be.
  return is_text_key && !value.is_string() ? json(text) : value;
}

}  // namespace

void add_object(const json& object, const LayerSource& source, ConfigLayer& layer) {
  add_section("", object, source, layer);
}

ConfigLayer read_config_files(const fs::path& file) {
  std::vector<ConfigFile> files = {read_file(file, "")};
  std::vector<fs::path> chain = {file};
  while (files.back().extends) {
    const fs::path next = (chain.back().parent_path() / *files.back().extends).lexically_normal();
    check_circle(chain, next);
    const std::string wanted_by =
        fmt::format(" (\"extends\" of {})", origin_of(files.back().source, "extends"));
    files.push_back(read_file(next, wanted_by));
    chain.push_back(next);
  }
  ConfigLayer layer;
  for (auto from = files.rbegin(); from != files.rend(); ++from) {
    layer.erase("name");  // another config's: a baseline by that name is not this one's to replace
    add_object(from->value, from->source, layer);
  }
  return layer;
}

void add_set(const std::string& assignment, ConfigLayer& layer) {
  const std::string shown = quoted_text(assignment);
  const size_t equals = assignment.find('=');
  if (equals == std::string::npos || equals == 0) {
    throw usage_error(fmt::format("--set {}: expected key=value, such as --set measure.steps=100", shown));
  }
  const std::string key = assignment.substr(0, equals);
  const std::string text = assignment.substr(equals + 1);
  if (key == "extends" || key == "$schema") {
    throw usage_error(fmt::format("--set {}: {} can be given in a config file only", shown, key));
  }
  const std::string source = "--set " + shown;
  const KeyRow* row = find_key(key);
  json value = set_value(row, text, source);
  std::error_code error;
  const LayerSource from{source, {}, fs::current_path(error)};
  for (size_t end = key.size(); end != std::string::npos;) {
    const size_t dot = end == 0 ? std::string::npos : key.rfind('.', end - 1);
    json outer = json::object();
    outer[key.substr(dot == std::string::npos ? 0 : dot + 1,
                     dot == std::string::npos ? end : end - dot - 1)] = std::move(value);
    value = std::move(outer);
    end = dot;
  }
  add_object(value, from, layer);
}

}  // namespace flopmark
