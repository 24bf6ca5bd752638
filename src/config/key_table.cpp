#include "config/key_table.h"

#include <algorithm>

#include "config/key_rows.h"

namespace flopmark {

const std::vector<KeyRow>& config_keys() {
  static const std::vector<KeyRow> kRows = [] {
    std::vector<KeyRow> rows;
    for (const auto& make : {name_rows, model_rows, data_source_rows, loader_rows, optimizer_rows, train_rows,
                             measure_rows, parallel_rows, peak_rows}) {
      for (KeyRow& row : make()) rows.push_back(std::move(row));
    }
    return rows;
  }();
  return kRows;
}

const std::vector<SectionRow>& config_sections() {
  static const std::vector<SectionRow> kSections = {
      {"model", "What is trained."},
      {"data", "What it is trained on."},
      {"train", "How a step is made."},
      {"train.optimizer", "How parameters are updated."},
      {"measure", "How it is timed."},
      {"parallel", "How many processes train together."},
      {"peak", "What the device could do at best."},
  };
  return kSections;
}

const KeyRow* find_key(const std::string& path) {
  const auto& rows = config_keys();
  const auto row = std::find_if(rows.begin(), rows.end(), [&](const KeyRow& r) { return r.path == path; });
  return row == rows.end() ? nullptr : &*row;
}

bool is_section(const std::string& path) {
  const auto& sections = config_sections();
  return path.empty() ||
         std::any_of(sections.begin(), sections.end(), [&](const SectionRow& s) { return s.path == path; });
}

std::string parent_of(const std::string& path) {
  const size_t dot = path.rfind('.');
  return dot == std::string::npos ? "" : path.substr(0, dot);
}

std::string leaf_of(const std::string& path) {
  return path.substr(path.rfind('.') + 1);
}

}  // namespace flopmark
