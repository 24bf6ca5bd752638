#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace CLI {
class App;
class Validator;
}  // namespace CLI

namespace flopmark {

/// For options whose empty value would be taken for "not given".
CLI::Validator not_empty();

/// For numbers, before they are converted: a finite one that is not below 0; a ratio, which is no percentage.
CLI::Validator not_negative();
CLI::Validator ratio();

/// --seed N.
void add_seed_option(CLI::App& command, std::optional<uint64_t>& seed);

enum class StoreUse { read, write };

/// @throws Error 200 if `folder` (--store; empty: not given) is no folder. To be written to, it may be
/// missing if the folder it lies in is there; a note says that it is made.
void check_store_option(const std::filesystem::path& folder, StoreUse use);

}  // namespace flopmark
