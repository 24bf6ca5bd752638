#include "cli/option_checks.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <system_error>

#include "cli/terminal.h"
#include "flopmark/error.h"

namespace flopmark {

CLI::Validator not_empty() {
  const auto check = [](const std::string& value) {
    return value.empty() ? std::string("is empty; give a value, or leave the option out") : std::string();
  };
  return CLI::Validator(check, "");
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
