#include "results/peak_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "config/strict_json.h"
#include "flopmark/error.h"
#include "measure/json_fields.h"
#include "results/record_file.h"

namespace flopmark {
namespace {

namespace fs = std::filesystem;

constexpr const char* kMeasuredSchema = "flopmark.peaks-measured/1";
constexpr const char* kMeasuredFile = "peaks-measured.json";

std::string set_variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// @throws Error 200 if it cannot be read or is blank.
std::string text_in_file(const fs::path& path) {
  std::error_code error;
  if (fs::is_directory(path, error))
    throw usage_error(fmt::format("{}: is a folder, not a file", path.string()));
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (!file) throw usage_error(fmt::format("{}: cannot be read; is it there?", path.string()));
  if (text.find_first_not_of(" \t\r\n") == std::string::npos) {
    throw usage_error(fmt::format("{}: is empty", path.string()));
  }
  return text;
}

nlohmann::json to_json(const MeasuredPeak& peak) {
  return {{"device", peak.device},
          {"threads", nullable(peak.threads)},
          {"precision", peak.precision},
          {"flop_per_s", peak.flop_per_s},
          {"spread_ratio", peak.spread_ratio},
          {"m", peak.m},
          {"n", peak.n},
          {"k", peak.k},
          {"blocks", peak.blocks},
          {"timed_s", peak.timed_s},
          {"time", peak.time},
          {"libtorch", peak.libtorch}};
}

double positive_field(const nlohmann::json& object, const char* key) {
  const double value = number_field(object, key);
  if (!(value > 0) || !std::isfinite(value)) {
    throw std::runtime_error(fmt::format("key \"{}\" must be a number above 0, found {:g}", key, value));
  }
  return value;
}

MeasuredPeak measured_peak_of(const nlohmann::json& json) {
  MeasuredPeak peak;
  peak.device = text_field(json, "device");
  peak.threads = optional_count_field(json, "threads");
  peak.precision = text_field(json, "precision");
  peak.flop_per_s = positive_field(json, "flop_per_s");
  peak.spread_ratio = positive_field(json, "spread_ratio");
  peak.m = count_field(json, "m");
  peak.n = count_field(json, "n");
  peak.k = count_field(json, "k");
  peak.blocks = count_field(json, "blocks");
  peak.timed_s = positive_field(json, "timed_s");
  peak.time = text_field(json, "time");
  peak.libtorch = text_field(json, "libtorch");
  return peak;
}

[[noreturn]] void refuse_measured(const fs::path& path, const std::string& why) {
  throw usage_error(
      fmt::format("{}: not a file of measured peaks: {}; correct it, or remove it and measure again with: "
                  "flopmark peak --measure",
                  path.string(), why));
}

std::vector<MeasuredPeak> measured_peaks_in(const nlohmann::json& document) {
  if (const std::string schema = text_field(document, "schema"); schema != kMeasuredSchema) {
    throw std::runtime_error(
        fmt::format("key \"schema\" is \"{}\", this program reads \"{}\"", schema, kMeasuredSchema));
  }
  std::vector<MeasuredPeak> peaks;
  for (const nlohmann::json& entry : array_field(document, "peaks")) {
    try {
      peaks.push_back(measured_peak_of(entry));
    } catch (const std::exception& error) {
      throw std::runtime_error(fmt::format("entry {}: {}", peaks.size() + 1, error.what()));
    }
  }
  return peaks;
}

}  // namespace

fs::path measured_peaks_path() {
  if (const std::string data = set_variable("FLOPMARK_DATA"); !data.empty())
    return fs::path(data) / kMeasuredFile;
  if (const std::string data = set_variable("XDG_DATA_HOME"); !data.empty()) {
    return fs::path(data) / "flopmark" / kMeasuredFile;
  }
  const std::string home = set_variable("HOME");
  return home.empty() ? fs::path() : fs::path(home) / ".local/share/flopmark" / kMeasuredFile;
}

std::vector<MeasuredPeak> read_measured_peaks(const fs::path& path) {
  std::error_code error;
  if (path.empty() || !fs::exists(path, error)) return {};
  try {
    return measured_peaks_in(parse_strict_json(text_in_file(path), path.string()).value);
  } catch (const Error& fault) {
    refuse_measured(path, fault.what());
  } catch (const std::exception& fault) {
    refuse_measured(path, fault.what());
  }
}

void keep_measured_peaks(const fs::path& path, const std::vector<MeasuredPeak>& fresh) {
  if (path.empty()) {
    throw usage_error("no folder to keep measured peaks in: set FLOPMARK_DATA, XDG_DATA_HOME or HOME");
  }
  std::vector<MeasuredPeak> peaks = read_measured_peaks(path);
  for (const MeasuredPeak& peak : fresh) {
    std::erase_if(peaks, [&](const MeasuredPeak& old) {
      return old.device == peak.device && old.threads == peak.threads && old.precision == peak.precision;
    });
    peaks.push_back(peak);
  }
  nlohmann::json document = {{"schema", kMeasuredSchema}, {"peaks", nlohmann::json::array()}};
  for (const MeasuredPeak& peak : peaks) document["peaks"].push_back(to_json(peak));
  write_file_atomically(path, document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

PeakTable read_peaks_file(const fs::path& path) {
  return parse_peak_table(parse_strict_json(text_in_file(path), path.string()).value, path.string());
}

PeakSources load_peak_sources(const fs::path& peaks_file) {
  PeakSources sources;
  if (!peaks_file.empty()) sources.table = merge_peak_tables(sources.table, read_peaks_file(peaks_file));
  sources.measured = read_measured_peaks(measured_peaks_path());
  sources.cpu = read_cpu_facts();
  return sources;
}

}  // namespace flopmark
