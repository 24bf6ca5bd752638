#include "compare/environment_difference.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <set>
#include <string_view>

#include "results/record_file.h"

namespace flopmark {
namespace {

using nlohmann::json;

/// `key` is a fact or a group of facts; the longest that fits decides.
struct FactClass {
  std::string_view key;
  DifferenceClass kind;
};

constexpr const char* kNotRecorded = "not recorded";

constexpr auto kRefuses = DifferenceClass::not_comparable;
constexpr auto kMatters = DifferenceClass::may_matter;
constexpr auto kHarmless = DifferenceClass::harmless;

/// The three classes of the design; what no row names is harmless.
constexpr std::array kFactClasses{
    FactClass{"environment.device_name", kRefuses},
    FactClass{"environment.device_count", kRefuses},
    FactClass{"environment.mig_profile", kRefuses},
    FactClass{"environment.mig", kMatters},  // these three: see class_of
    FactClass{"environment.libtorch", kMatters},
    FactClass{"environment.cuda", kMatters},
    FactClass{"environment.device_uuid", kMatters},
    FactClass{"environment.device_memory_bytes", kMatters},
    FactClass{"environment.device_max_clock_hz", kMatters},
    FactClass{"environment.device_max_memory_clock_hz", kMatters},
    FactClass{"environment.device_application_clock_hz", kMatters},
    FactClass{"environment.device_power_limit_w", kMatters},
    FactClass{"environment.ecc", kMatters},
    FactClass{"environment.persistence_mode", kMatters},
    FactClass{"environment.cudnn_benchmark", kMatters},
    FactClass{"environment.turbo", kMatters},
    FactClass{"environment.smt", kMatters},
    FactClass{"environment.cpu_max_clock_hz", kMatters},
    FactClass{"environment.cpu_affinity", kMatters},
    FactClass{"environment.cgroup_cpus", kMatters},
    FactClass{"environment.cgroup_memory_bytes", kMatters},
    FactClass{"environment.driver", kMatters},
    FactClass{"environment.cudnn", kMatters},
    FactClass{"environment.nccl", kMatters},
    FactClass{"environment.compiler", kMatters},
    FactClass{"environment.cpu_model", kMatters},
    FactClass{"environment.cpu_logical", kMatters},
    FactClass{"environment.threads", kMatters},
    FactClass{"environment.governor", kMatters},
    FactClass{"environment.interconnect", kMatters},
    FactClass{"environment.variables", kMatters},
    FactClass{"config.parallel", kMatters},
    FactClass{"config.parallel.ranks", kRefuses},
    FactClass{"config.train", kMatters},
    FactClass{"config.train.precision", kRefuses},
    FactClass{"config.train.gradient_accumulation", kRefuses},  // it multiplies the batch of a step
    FactClass{"config.train.seed", kHarmless},
    FactClass{"config.train.optimizer.lr", kHarmless},
    FactClass{"config.model", kRefuses},
    FactClass{"config.model.preset", kHarmless},  // a name: the shape below it decides
    FactClass{"config.data", kMatters},
    FactClass{"config.data.batch_size", kRefuses},
    FactClass{"config.data.sequence_length", kRefuses},
    FactClass{"config.data.image_size", kRefuses},
    FactClass{"config.data.image_channels", kRefuses},
    FactClass{"config.data.inputs", kRefuses},
    FactClass{"config.data.seed", kHarmless},
    FactClass{"config.measure.threads", kMatters},
    FactClass{"config.measure.loader", kMatters},
    FactClass{"config.measure.attention_convention", kMatters},
    FactClass{"data.hash", kMatters},
    FactClass{"attention_kernel", kMatters},
    FactClass{"ranks.hosts", kMatters},
};

/// Whether `key` is `group` or lies in it.
bool is_within(std::string_view key, std::string_view group) {
  return key.starts_with(group) && (key.size() == group.size() || key[group.size()] == '.');
}

void collect(const json& value, const std::string& key, std::map<std::string, std::string>& facts) {
  if (value.is_object()) {
    for (const auto& [name, inside] : value.items()) collect(inside, fmt::format("{}.{}", key, name), facts);
    return;
  }
  facts[key] = value.is_string() ? value.get<std::string>()
                                 : value.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::map<std::string, std::string> facts_of(const RunRecord& record) {
  const json whole = to_json(record);
  std::map<std::string, std::string> facts;
  for (const char* part : {"environment", "config"}) collect(whole.at(part), part, facts);
  facts.emplace("config.parallel.ranks", "1");  // before there were several, none was recorded
  if (facts.at("config.parallel.ranks") == "1") {
    std::erase_if(facts, [](const auto& fact) {
      return is_within(fact.first, "config.parallel") && fact.first != "config.parallel.ranks";
    });
  }
  std::set<std::string> hosts;
  for (const RankSummary& rank : record.ranks) hosts.insert(rank.host);
  if (!hosts.empty()) facts["ranks.hosts"] = fmt::format("{}", hosts.size());
  facts["data.hash"] = record.data.hash.value_or("null");
  facts["attention_kernel"] = record.attention_kernel.value_or("null");
  return facts;
}

std::string_view major_version(std::string_view version) {
  return version.substr(0, version.find('.'));
}

/// Facts that refuse only where both sides know them: another major version, and MIG on one side only.
bool refuses_if_known(const EnvironmentDifference& difference) {
  if (difference.a == "null" || difference.b == "null") return false;
  if (difference.key == "environment.mig") return true;
  const bool has_major = difference.key == "environment.libtorch" || difference.key == "environment.cuda";
  return has_major && major_version(difference.a) != major_version(difference.b);
}

/// A config of another version may lack a key: that is doubt, not another model.
bool is_recorded_by_both(const EnvironmentDifference& difference) {
  return difference.a != kNotRecorded && difference.b != kNotRecorded;
}

DifferenceClass class_of(const EnvironmentDifference& difference) {
  if (refuses_if_known(difference)) return kRefuses;
  std::string_view longest;
  DifferenceClass kind = kHarmless;
  for (const FactClass& row : kFactClasses) {
    if (!is_within(difference.key, row.key) || row.key.size() < longest.size()) continue;
    longest = row.key;
    kind = row.kind;
  }
  if (kind == kRefuses && !is_recorded_by_both(difference)) return kMatters;
  // Where one side is of one rank, the number of ranks says it all.
  const bool is_of_several = longest == "config.parallel" || longest == "ranks.hosts";
  if (is_of_several && !is_recorded_by_both(difference)) return kHarmless;
  return kind;
}

const std::string& value_in(const std::map<std::string, std::string>& facts, const std::string& key) {
  static const std::string kAbsent = kNotRecorded;
  const auto found = facts.find(key);
  return found == facts.end() ? kAbsent : found->second;
}

}  // namespace

const char* to_text(DifferenceClass kind) {
  return kind == kRefuses ? "not_comparable" : kind == kMatters ? "may_matter" : "harmless";
}

std::vector<EnvironmentDifference> environment_differences(const RunRecord& a, const RunRecord& b,
                                                           const DifferenceOptions& options) {
  const auto facts_a = facts_of(a);
  const auto facts_b = facts_of(b);
  auto keys = facts_a;
  keys.insert(facts_b.begin(), facts_b.end());

  std::vector<EnvironmentDifference> differences;
  for (const auto& [key, unused] : keys) {
    EnvironmentDifference difference{key, value_in(facts_a, key), value_in(facts_b, key)};
    if (difference.a == difference.b) continue;
    difference.kind = class_of(difference);
    if (difference.kind == kHarmless) continue;
    if (options.strict) difference.kind = kRefuses;
    difference.allowed =
        std::any_of(options.allow.begin(), options.allow.end(),
                    [&fact = key](const std::string& group) { return is_within(fact, group); });
    differences.push_back(difference);
  }
  return differences;
}

std::vector<std::string> unused_allowances(const std::vector<EnvironmentDifference>& differences,
                                           const std::vector<std::string>& allow) {
  std::vector<std::string> unused;
  std::copy_if(allow.begin(), allow.end(), std::back_inserter(unused), [&](const std::string& group) {
    return std::none_of(differences.begin(), differences.end(), [&](const EnvironmentDifference& difference) {
      return is_within(difference.key, group);
    });
  });
  return unused;
}

bool are_comparable(const std::vector<EnvironmentDifference>& differences) {
  return std::none_of(differences.begin(), differences.end(), [](const EnvironmentDifference& difference) {
    return difference.kind == kRefuses && !difference.allowed;
  });
}

}  // namespace flopmark
