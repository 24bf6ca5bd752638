#pragma once

#include <filesystem>

namespace CLI {
class Validator;
}

namespace flopmark {

/// For options whose empty value would be taken for "not given".
CLI::Validator not_empty();

enum class StoreUse { read, write };

/// @throws Error 200 if `folder` (--store; empty: not given) is no folder. To be written to, it may be
/// missing if the folder it lies in is there; a note says that it is made.
void check_store_option(const std::filesystem::path& folder, StoreUse use);

}  // namespace flopmark
