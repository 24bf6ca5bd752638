#include "report/fitness_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "flopmark/counted.h"
#include "report/text_layout.h"
#include "report/units.h"

namespace flopmark {
namespace {

constexpr size_t kFitnessWidth = 6, kCheckWidth = 15;

std::string check_lines(const FitnessCheck& check) {
  const std::string first =
      fmt::format("{:<{}}{:<{}}", to_text(check.fitness), kFitnessWidth, check.key, kCheckWidth);
  const std::string command = check.command.empty() ? ""
                                                    : std::string(kFitnessWidth + kCheckWidth, ' ') + "$ " +
                                                          printable(check.command) + "\n";
  return hanging(first, printable(check.found)) + command;
}

std::string conclusion(const std::vector<FitnessCheck>& checks) {
  const auto count = [&](Fitness fitness) {
    return std::count_if(checks.begin(), checks.end(),
                         [fitness](const FitnessCheck& check) { return check.fitness == fitness; });
  };
  const auto bad = count(Fitness::bad), warn = count(Fitness::warn);
  if (bad > 0)
    return fmt::format("not fit to measure on: {}, {}\n", counted(bad, "fault"), counted(warn, "warning"));
  if (warn > 0) return fmt::format("fit to measure on, with {}\n", counted(warn, "warning"));
  return "fit to measure on\n";
}

}  // namespace

std::string fitness_text(const std::vector<FitnessCheck>& checks) {
  std::string text;
  for (const FitnessCheck& check : checks) text += check_lines(check);
  return text + "\n" + conclusion(checks);
}

std::string fitness_json(const std::vector<FitnessCheck>& checks) {
  nlohmann::json list = nlohmann::json::array();
  for (const FitnessCheck& check : checks) {
    list.push_back(
        {{"check", check.key},
         {"fitness", to_text(check.fitness)},
         {"found", check.found},
         {"command", check.command.empty() ? nlohmann::json(nullptr) : nlohmann::json(check.command)}});
  }
  const nlohmann::json whole = {
      {"schema", "flopmark.doctor/1"}, {"fit", worst_fitness(checks) != Fitness::bad}, {"checks", list}};
  return whole.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace flopmark
