#include "launch/process_environment.h"

#include <unistd.h>

#include <algorithm>
#include <map>

namespace flopmark {

std::vector<std::string> process_environment(const std::vector<std::pair<std::string, std::string>>& set,
                                             const std::vector<std::string>& unset) {
  std::map<std::string, std::string> entries;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    entries.try_emplace(text.substr(0, std::min(text.find('='), text.size())), text);
  }
  for (const std::string& name : unset) entries.erase(name);
  for (const auto& [name, value] : set) entries[name].assign(name).append("=").append(value);
  std::vector<std::string> lines;
  lines.reserve(entries.size());
  for (auto& [name, entry] : entries) lines.push_back(std::move(entry));
  return lines;
}

std::vector<char*> exec_pointers(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace flopmark
