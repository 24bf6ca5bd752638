#pragma once

#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>

#include "results/baseline_store.h"

namespace flopmark {

// Files of a store that grow by lines of JSON, each beginning with its time.

/// Calls `take` for each line; there is none if there is no such file. @throws Error 202 naming file and line
/// where that is no JSON or `take` throws; `what` says what a line should be.
void read_store_lines(const std::filesystem::path& path, const std::string& what,
                      const std::function<void(const nlohmann::json&)>& take);

/// Writes the lines, each with its newline, in their order, that is by time. Git is told to merge files of
/// this ending (".calibration.jsonl") by union: what two people add to one file both stays.
/// @throws Error 202 if it cannot be written.
void write_store_lines(const Store& store, const std::filesystem::path& path,
                       const std::set<std::string>& lines, const std::string& ending);

/// As such a line holds a number: 6 significant digits, null if absent.
std::string six_digits(const std::optional<double>& value);

/// @throws std::exception if it is missing or not finite.
double finite_field(const nlohmann::json& object, const char* key);

}  // namespace flopmark
