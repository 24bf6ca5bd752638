#include "config/key_hint.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>

#include "config/key_table.h"

namespace flopmark {
namespace {

constexpr size_t kLongestName = 64;
constexpr size_t kMostSuggestions = 3;

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

/// A name that may have been meant: a key's own, or what other tools call it.
struct KnownName {
  std::string path;
  std::string name;
};

/// Distance of a misspelt name to a known one; the beginning of a key's own name ("hiden" of hidden_size)
/// counts one more. Nothing if more than every third character is wrong.
std::optional<size_t> name_distance(const std::string& wrong, const KnownName& known) {
  std::optional<size_t> best;
  const auto consider = [&](const std::string& name, size_t more) {
    const size_t longer = std::max(wrong.size(), name.size());
    const size_t allowed = wrong.size() / 3;
    if (longer - std::min(wrong.size(), name.size()) > allowed) return;  // saves the work
    const size_t distance = edit_distance(wrong, name);
    if (distance <= allowed) best = std::min(best.value_or(distance + more), distance + more);
  };
  consider(known.name, 0);
  if (known.name != leaf_of(known.path)) return best;
  for (size_t end = known.name.find('_'); end != std::string::npos; end = known.name.find('_', end + 1)) {
    consider(known.name.substr(0, end), 1);
  }
  return best;
}

std::vector<KnownName> collect_names() {
  std::vector<KnownName> names = {{"extends", "extends"}, {"$schema", "$schema"}};
  for (const SectionRow& section : config_sections()) names.push_back({section.path, leaf_of(section.path)});
  for (const KeyRow& row : config_keys()) {
    names.push_back({row.path, leaf_of(row.path)});
    for (const std::string& other : row.other_names) names.push_back({row.path, other});
  }
  return names;
}

const std::vector<KnownName>& known_names() {
  static const std::vector<KnownName> kNames = collect_names();
  return kNames;
}

std::vector<std::string> names_in(const std::string& parent) {
  std::vector<std::string> names;
  for (const KnownName& known : known_names()) {
    const std::string leaf = leaf_of(known.path);
    if (parent_of(known.path) == parent && known.name == leaf) names.push_back(leaf);
  }
  return names;
}

}  // namespace

size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<std::vector<size_t>> rows(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) {
    for (size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        rows[i][j] = i + j;
        continue;
      }
      const size_t changed = rows[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      rows[i][j] = std::min({rows[i - 1][j] + 1, rows[i][j - 1] + 1, changed});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) rows[i][j] = std::min(rows[i][j], rows[i - 2][j - 2] + 1);
    }
  }
  return rows[a.size()][b.size()];
}

std::vector<std::string> nearest_keys(const std::string& parent, const std::string& name) {
  if (name.size() > kLongestName) return {};
  std::vector<std::string> nearest;
  size_t best = 0;
  for (const KnownName& known : known_names()) {
    const auto distance = name_distance(lower(name), known);
    if (!distance) continue;
    const size_t score = *distance + (parent_of(known.path) == parent ? 0 : 1);
    if (nearest.empty() || score < best) {
      nearest = {known.path};
      best = score;
    } else if (score == best && nearest.size() < kMostSuggestions && nearest.back() != known.path) {
      nearest.push_back(known.path);
    }
  }
  return nearest;
}

std::string unknown_key_advice(const std::string& parent, const std::string& name) {
  // "model.layers" as one name: a dotted key belongs into nested objects.
  const std::string dotted = parent.empty() ? name : parent + "." + name;
  if (name.find('.') != std::string::npos && (find_key(dotted) != nullptr || is_section(dotted))) {
    return fmt::format("write {} as nested objects (dots are for --set only)", dotted);
  }
  const auto nearest = nearest_keys(parent, name);
  if (!nearest.empty()) return fmt::format("did you mean {}?", fmt::join(nearest, " or "));
  return fmt::format("known {}: {}", parent.empty() ? "at the top level" : "in " + parent,
                     fmt::join(names_in(parent), ", "));
}

}  // namespace flopmark
