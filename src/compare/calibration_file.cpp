#include "compare/calibration_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <set>
#include <span>
#include <system_error>

#include "data/content_hash.h"
#include "flopmark/error.h"
#include "hardware/environment.h"
#include "measure/json_fields.h"
#include "results/git.h"
#include "results/record_file.h"

namespace flopmark {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* kCalibrationEnd = ".calibration.jsonl";
constexpr const char* kUnionLine = "*.calibration.jsonl merge=union\n";

std::string six_digits(double value) {
  return fmt::format("{:.6g}", value);
}

std::string six_digits(const std::optional<double>& value) {
  return value ? six_digits(*value) : "null";
}

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

double finite_field(const json& object, const char* key) {
  const double value = object.at(key).get<double>();
  if (!std::isfinite(value)) throw std::runtime_error(std::string(key) + " is no number");
  return value;
}

std::optional<double> optional_field(const json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() || found->is_null() ? std::nullopt : std::optional(found->get<double>());
}

CalibrationPair parse_pair(const std::string& line) {
  const json object = json::parse(line);
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

void tell_git_to_merge_by_union(const Store& store, const fs::path& path) {
  if (merges_by_union(path)) return;
  const fs::path file = store.baselines() / ".gitattributes";
  std::ifstream in(file, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  if (!text.empty() && text.back() != '\n') text += '\n';
  if (text.find(kUnionLine) == std::string::npos) write_file_atomically(file, text + kUnionLine);
}

}  // namespace

std::string calibration_key(const RunConfig& config) {
  RunConfig portable = config;  // where files lie is each checkout's own
  portable.data.path = fs::path(config.data.path).filename().string();
  portable.model.torchscript = fs::path(config.model.torchscript).filename().string();
  json resolved = to_json(portable);
  resolved.erase("name");
  const std::string text = resolved.dump();
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
  std::error_code ignored;
  if (!fs::exists(path, ignored)) return pairs;
  std::ifstream in(path, std::ios::binary);
  size_t number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    if (line.empty()) continue;
    try {
      pairs.push_back(parse_pair(line));
    } catch (const std::exception& error) {
      throw baseline_error(
          fmt::format("{}: line {} is no pair of a calibration ({}); mend or remove that line", path.string(),
                      number, error.what()));
    }
  }
  if (!in.eof()) throw baseline_error(fmt::format("{}: cannot be read", path.string()));
  return pairs;
}

void add_calibration(const Store& store, const fs::path& path, const std::vector<CalibrationPair>& fresh) {
  std::vector<CalibrationPair> pairs = read_calibration(path);
  pairs.insert(pairs.end(), fresh.begin(), fresh.end());
  std::set<std::string> lines;  // by time, which comes first; a pair that a merge brought twice is one
  for (const CalibrationPair& pair : pairs) lines.insert(calibration_line(pair));
  std::string text;
  for (const std::string& line : lines) text += line;
  write_file_atomically(path, text);
  tell_git_to_merge_by_union(store, path);
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
