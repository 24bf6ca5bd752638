#include "cli/scratch_folder.h"

#include <fmt/format.h>
#include <stdlib.h>

#include <cerrno>
#include <string>
#include <system_error>

#include "flopmark/error.h"

namespace flopmark {

ScratchFolder::ScratchFolder() {
  const char* given = std::getenv("TMPDIR");
  const std::filesystem::path parent = given != nullptr && *given != '\0' ? given : "/tmp";
  std::string name = (parent / "flopmark-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) {
    const std::string reason = std::error_code(errno, std::generic_category()).message();
    throw usage_error(
        fmt::format("cannot make a scratch folder in {}: {}; set TMPDIR to a folder that can be written",
                    parent.string(), reason));
  }
  path_ = name;
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;  // what cannot be removed is the system's temporary files to clean up
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace flopmark
