#include "cli/option_checks.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <system_error>

#include "cli/terminal.h"
#include "flopmark/error.h"

namespace flopmark {
namespace {

std::optional<double> number_of(const std::string& text) {
  double number = 0;
  const bool is_one = CLI::detail::lexical_cast(text, number) && std::isfinite(number);
  return is_one ? std::optional(number) : std::nullopt;
}

}  // namespace

CLI::Validator not_empty() {
  const auto check = [](const std::string& value) {
    return value.empty() ? std::string("is empty; give a value, or leave the option out") : std::string();
  };
  return CLI::Validator(check, "");
}

CLI::Validator not_negative() {
  const auto check = [](const std::string& value) {
    const auto number = number_of(value);
    return number && *number >= 0 ? std::string() : value + " is no number from 0 on";
  };
  return CLI::Validator(check, "");
}

CLI::Validator ratio() {
  const auto check = [](const std::string& value) {
    return number_of(value) ? std::string() : value + " is no ratio: 0.025 is 2.5 %";
  };
  return CLI::Validator(check, "");
}

void add_seed_option(CLI::App& command, std::optional<uint64_t>& seed) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto check = [is_digit](const std::string& value) {  // CLI11 takes -1 for the largest there is
    constexpr size_t kMostDigits = 19;                       // of 64 bits, any number of them
    const bool whole =
        !value.empty() && value.size() <= kMostDigits && std::all_of(value.begin(), value.end(), is_digit);
    return whole ? std::string() : value + " is no whole number from 0 on, of 19 digits at most";
  };
  command.add_option("--seed", seed, "Of the random orders; a fresh one if not given")
      ->type_name("N")
      ->check(CLI::Validator(check, ""));
}

void check_store_option(const std::filesystem::path& folder, StoreUse use) {
  std::error_code error;
  if (folder.empty() || std::filesystem::is_directory(folder, error)) return;
  if (std::filesystem::exists(std::filesystem::symlink_status(folder, error))) {
    throw usage_error(fmt::format("--store {}: is not a folder", folder.string()));
  }
  if (use == StoreUse::read) {
    throw usage_error(fmt::format("--store {}: no such folder; check the path", folder.string()));
  }
  const std::filesystem::path parent = std::filesystem::absolute(folder).lexically_normal().parent_path();
  if (!std::filesystem::is_directory(parent, error)) {
    throw usage_error(fmt::format("--store {}: no such folder, nor is there {} to make it in; check the path",
                                  folder.string(), parent.string()));
  }
  write_note(fmt::format("--store {}: a new store is made there", folder.string()));
}

}  // namespace flopmark
