#include "compare/calibration_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <span>
#include <system_error>
#include <utility>

#include "compare/store_lines.h"
#include "data/content_hash.h"
#include "hardware/environment.h"

namespace flopmark {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* kCalibrationEnd = ".calibration.jsonl";

/// Keys in this order, so that the line reads from when to what.
std::string calibration_line(const CalibrationPair& pair) {
  return fmt::format(
      R"({{"time":{},"config":{},"commit":{},"first":"{}","throughput":{},"typical":{},"floor":{},"step_s":{},)"
      R"("others_cpu_ratio":{},"steal_ratio":{}}})"
      "\n",
      json(pair.time).dump(), json(pair.config).dump(), pair.commit ? json(*pair.commit).dump() : "null",
      pair.a_first ? "a" : "b", six_digits(pair.ratios.throughput), six_digits(pair.ratios.typical),
      six_digits(pair.ratios.floor), six_digits(pair.step_s), six_digits(pair.others_cpu_ratio),
      six_digits(pair.steal_ratio));
}

std::optional<double> optional_field(const json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() || found->is_null() ? std::nullopt : std::optional(found->get<double>());
}

CalibrationPair parse_pair(const json& object) {
  CalibrationPair pair;
  pair.time = object.at("time").get<std::string>();
  pair.config = object.at("config").get<std::string>();
  if (!object.at("commit").is_null()) pair.commit = object.at("commit").get<std::string>();
  pair.a_first = object.at("first").get<std::string>() == "a";
  pair.ratios = {finite_field(object, "throughput"), finite_field(object, "typical"),
                 finite_field(object, "floor")};
  pair.step_s = finite_field(object, "step_s");
  pair.others_cpu_ratio = optional_field(object, "others_cpu_ratio");
  pair.steal_ratio = optional_field(object, "steal_ratio");
  return pair;
}

/// Where files lie is each checkout's own.
constexpr std::pair<const char*, const char*> kFileKeys[] = {{"data", "path"},      {"data", "paths"},
                                                             {"data", "plugin"},    {"model", "torchscript"},
                                                             {"model", "exported"}, {"model", "plugin"}};

void keep_file_name(json& path) {
  if (path.is_string()) path = fs::path(path.get<std::string>()).filename().string();
}

}  // namespace

std::string calibration_key(const RunConfig& config) {
  return calibration_key(to_json(config));
}

std::string calibration_key(nlohmann::json resolved) {
  resolved.erase("name");
  // As to_json: of a record that holds the whole config.
  if (resolved.contains("parallel") && resolved["parallel"].value("ranks", 1) == 1)
    resolved.erase("parallel");
  for (const auto& [section, key] : kFileKeys) {
    if (!resolved.contains(section) || !resolved[section].contains(key)) continue;
    json& value = resolved[section][key];
    if (value.is_array()) std::for_each(value.begin(), value.end(), keep_file_name);
    keep_file_name(value);
  }
  const std::string text = resolved.dump(-1, ' ', false, json::error_handler_t::replace);
  ContentHash hash;
  hash.add(std::as_bytes(std::span(text)));
  return fmt::format("{:016x}", hash.value());
}

fs::path calibration_path(const Store& store, const std::string& name, const Environment& environment) {
  return store.baselines() / hardware_slug(environment) / (name + kCalibrationEnd);
}

bool has_calibration(const Store& store, const std::string& name) {
  std::error_code error;
  for (fs::directory_iterator at(store.baselines(), error), end; !error && at != end; at.increment(error)) {
    std::error_code ignored;
    if (fs::exists(at->path() / (name + kCalibrationEnd), ignored)) return true;
  }
  return false;
}

std::vector<CalibrationPair> read_calibration(const fs::path& path) {
  std::vector<CalibrationPair> pairs;
  read_store_lines(path, "pair of a calibration",
                   [&](const json& object) { pairs.push_back(parse_pair(object)); });
  return pairs;
}

void add_calibration(const Store& store, const fs::path& path, const std::vector<CalibrationPair>& fresh) {
  std::vector<CalibrationPair> pairs = read_calibration(path);
  pairs.insert(pairs.end(), fresh.begin(), fresh.end());
  std::set<std::string> lines;  // a pair that a merge brought twice is one
  for (const CalibrationPair& pair : pairs) lines.insert(calibration_line(pair));
  write_store_lines(store, path, lines, kCalibrationEnd);
}

std::vector<PairRatios> calibration_ratios(const std::vector<CalibrationPair>& pairs,
                                           const std::string& key) {
  std::vector<PairRatios> ratios;
  for (const CalibrationPair& pair : pairs) {
    if (pair.config == key) ratios.push_back(pair.ratios);
  }
  return ratios;
}

}  // namespace flopmark
