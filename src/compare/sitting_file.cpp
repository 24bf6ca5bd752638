#include "compare/sitting_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <stdexcept>
#include <tuple>

#include "compare/calibration_file.h"
#include "compare/measured_record.h"
#include "compare/store_lines.h"
#include "hardware/environment.h"
#include "results/record_file.h"
#include "stats/quantile.h"

namespace flopmark {
namespace {

using nlohmann::json;

constexpr const char* kSittingsEnd = ".sittings.jsonl";

std::string step_key(Summary summary) {
  return std::string(to_text(summary)) + "_s";
}

std::string sitting_line(const Sitting& sitting) {
  std::string line = fmt::format(R"({{"time":{},"config":{},"build":{})", json(sitting.time).dump(),
                                 json(sitting.config).dump(), json(sitting.build).dump());
  for (const Summary summary : kSummaries) {
    line += fmt::format(R"(,"{}":{})", step_key(summary),
                        six_digits(sitting.step_s[static_cast<size_t>(summary)]));
  }
  return line + "}\n";
}

Sitting parse_sitting(const json& object) {
  Sitting sitting;
  sitting.time = object.at("time").get<std::string>();
  if (!utc_seconds(sitting.time)) throw std::runtime_error("time is no date");
  sitting.config = object.at("config").get<std::string>();
  sitting.build = object.at("build").get<std::string>();
  for (const Summary summary : kSummaries) {
    const std::string key = step_key(summary);
    const double step_s = finite_field(object, key.c_str());
    if (!(step_s > 0)) throw std::runtime_error(key + " is not above 0");
    sitting.step_s[static_cast<size_t>(summary)] = step_s;
  }
  return sitting;
}

double time_s(const Sitting& sitting) {
  return utc_seconds(sitting.time).value_or(0);
}

/// Of sittings ordered by build and time: the ratios of every two of one build.
void add_ratios(const std::vector<Sitting>& sittings, Summary summary, std::vector<double>& ratios) {
  const auto at = static_cast<size_t>(summary);
  for (const Sitting& one : sittings) {
    for (const Sitting& other : sittings) {
      if (&one != &other && one.build == other.build) {
        ratios.push_back(std::log(one.step_s[at] / other.step_s[at]));
      }
    }
  }
}

}  // namespace

Sitting sitting_of(const RunRecord& record, const std::string& build) {
  Sitting sitting{record.time, calibration_key(record.config), build};
  for (const Summary summary : kSummaries) {
    sitting.step_s[static_cast<size_t>(summary)] = std::exp(median(launch_logs(record, summary)));
  }
  return sitting;
}

std::filesystem::path sittings_path(const Store& store, const RunRecord& record) {
  return store.baselines() / hardware_slug(record.environment) / (record.name + kSittingsEnd);
}

std::vector<Sitting> read_sittings(const std::filesystem::path& path) {
  std::vector<Sitting> sittings;
  read_store_lines(path, "sitting", [&](const json& object) { sittings.push_back(parse_sitting(object)); });
  return sittings;
}

void add_sittings(const Store& store, const std::filesystem::path& path, const std::vector<Sitting>& fresh) {
  std::set<std::string> lines;  // one that a merge brought twice is one
  for (const Sitting& sitting : read_sittings(path)) lines.insert(sitting_line(sitting));
  for (const Sitting& sitting : fresh) lines.insert(sitting_line(sitting));
  write_store_lines(store, path, lines, kSittingsEnd);
}

std::vector<Sitting> counted_sittings(std::vector<Sitting> sittings, const std::string& config) {
  std::erase_if(sittings, [&](const Sitting& sitting) { return sitting.config != config; });
  std::sort(sittings.begin(), sittings.end(), [](const Sitting& one, const Sitting& other) {
    return std::tie(one.build, one.time) < std::tie(other.build, other.time);
  });
  std::vector<Sitting> apart;
  std::map<std::string, size_t> of_build;
  for (Sitting& sitting : sittings) {
    const bool begins = apart.empty() || apart.back().build != sitting.build;
    if (!begins && time_s(sitting) - time_s(apart.back()) < kSittingsApart_s) continue;
    ++of_build[sitting.build];
    apart.push_back(std::move(sitting));
  }
  std::erase_if(apart, [&](const Sitting& sitting) { return of_build[sitting.build] < 2; });
  return apart;
}

std::vector<std::vector<double>> sitting_ratios(const std::vector<Sitting>& counted) {
  std::set<std::string> builds;
  for (const Sitting& sitting : counted) builds.insert(sitting.build);
  if (counted.empty() || counted.size() - builds.size() < kLeastSittings - 1) return {};
  const auto [first, last] = std::minmax_element(
      counted.begin(), counted.end(),
      [](const Sitting& one, const Sitting& other) { return time_s(one) < time_s(other); });
  if (time_s(*last) - time_s(*first) < kLeastSittingsSpan_s) return {};
  std::vector<std::vector<double>> ratios(kSummaries.size());
  for (const Summary summary : kSummaries) {
    add_ratios(counted, summary, ratios[static_cast<size_t>(summary)]);
  }
  return ratios;
}

}  // namespace flopmark
