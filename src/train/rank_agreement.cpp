#include "train/rank_agreement.h"

#include <fmt/format.h>

#include <map>
#include <set>

#include "config/rank_names.h"

namespace flopmark {
namespace {

/// Keys of a config that each rank may have its own value of.
const std::set<std::string> kOwnKeys = {"device",       "data.path",         "data.paths",    "data.plugin",
                                        "model.plugin", "model.torchscript", "model.exported"};
constexpr size_t kMostLines = 20;

/// {"a": {"b": 1}} becomes {"a.b": 1}; lists stay whole.
void flatten_into(nlohmann::json& flat, const std::string& prefix, const nlohmann::json& value) {
  if (!value.is_object()) {
    if (kOwnKeys.count(prefix) == 0) flat[prefix] = value;
    return;
  }
  for (const auto& [key, inner] : value.items()) {
    flatten_into(flat, prefix.empty() ? key : prefix + "." + key, inner);
  }
}

template <typename T>
nlohmann::json or_null(const std::optional<T>& value) {
  return value ? nlohmann::json(*value) : nlohmann::json(nullptr);
}

std::string value_text(const nlohmann::json& facts, const std::string& key) {
  if (!facts.contains(key)) return "not there";
  const std::string text = facts.at(key).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  return text.size() <= 80 ? text : text.substr(0, 77) + "...";
}

/// One line if the ranks differ in `key`, else empty.
std::string line_of(const std::string& key, const std::vector<nlohmann::json>& facts,
                    const std::vector<std::string>& hosts) {
  std::map<std::string, std::vector<int64_t>> ranks_with;
  std::vector<std::string> in_order;
  for (size_t rank = 0; rank < facts.size(); ++rank) {
    const std::string value = value_text(facts[rank], key);
    if (ranks_with[value].empty()) in_order.push_back(value);
    ranks_with[value].push_back(static_cast<int64_t>(rank));
  }
  if (in_order.size() < 2) return "";
  std::string line = "\n  " + key + ": ";
  for (const std::string& value : in_order) {
    line += fmt::format("{}{} on {}", value == in_order.front() ? "" : "; ", value,
                        rank_list(ranks_with[value], hosts));
  }
  return line;
}

}  // namespace

nlohmann::json facts_to_json(const RankFacts& facts, const RunConfig& config) {
  nlohmann::json flat = nlohmann::json::object();
  flatten_into(flat, "", to_json(config));
  flat["device kind"] = facts.device_kind;
  flat["LibTorch"] = facts.libtorch;
  flat["data: hash"] = or_null(facts.data.hash);
  flat["data: samples"] = or_null(facts.data.samples);
  flat["data: tokens"] = or_null(facts.data.tokens);
  flat["model: hash of its file"] = or_null(facts.data.model_hash);
  flat["model: parameters"] = facts.parameters;
  flat["model: hash of its shapes"] = facts.shapes_hash;
  return flat;
}

std::string difference_of(const std::vector<nlohmann::json>& facts, const std::vector<std::string>& hosts) {
  std::set<std::string> keys;
  for (const auto& each : facts) {
    for (const auto& [key, value] : each.items()) keys.insert(key);
  }
  std::string text;
  size_t lines = 0;
  for (const std::string& key : keys) {
    const std::string line = line_of(key, facts, hosts);
    if (line.empty()) continue;
    if (++lines <= kMostLines) text += line;
  }
  if (lines > kMostLines) text += fmt::format("\n  and {} more", lines - kMostLines);
  return text;
}

std::string shared_gpu(const std::vector<std::string>& uuids, const std::vector<std::string>& hosts) {
  for (size_t later = 0; later < uuids.size(); ++later) {
    for (size_t rank = 0; rank < later && !uuids[later].empty(); ++rank) {
      if (uuids[rank] != uuids[later] || hosts.at(rank) != hosts.at(later)) continue;
      const std::vector<int64_t> both{static_cast<int64_t>(rank), static_cast<int64_t>(later)};
      return fmt::format("{} have the same GPU, {}", rank_list(both, hosts), uuids[rank]);
    }
  }
  return "";
}

}  // namespace flopmark
