#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "config/key_value.h"
#include "config/resolve.h"
#include "flopmark/error.h"

namespace flopmark {
namespace {

namespace fs = std::filesystem;

/// @throws Error 200 unless `path` can be read and is of a kind that the data type reads.
void check_readable(const std::string& key, const std::string& path, const RunConfig& config,
                    const ConfigLayer& layer) {
  const std::string place = fmt::format("{}: {} {}", layer.at(key).origin, key, quoted_text(path));
  const bool may_be_folder = config.data.type == "images" || config.data.type == "cifar10";
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found) {
    throw usage_error(fmt::format(
        "{}: no such {}; a relative path starts at the config's folder, in --set at the current one", place,
        config.data.type == "images" ? "folder" : "file"));
  }
  if (error) throw usage_error(fmt::format("{}: cannot be read: {}", place, error.message()));
  if (fs::is_directory(status) && may_be_folder) return;
  if (fs::is_directory(status)) throw usage_error(place + ": is a folder, expected a file");
  if (config.data.type == "images") throw usage_error(place + ": is a file, expected a folder of pictures");
  if (!fs::is_regular_file(status)) throw usage_error(place + ": is not a regular file");
  errno = 0;
  if (!std::ifstream(path, std::ios::binary)) {
    throw usage_error(fmt::format("{}: cannot be read: {}", place, std::strerror(errno)));
  }
}

}  // namespace

void check_data_file(const RunConfig& config, const ConfigLayer& layer) {
  if (!config.data.path.empty()) check_readable("data.path", config.data.path, config, layer);
  for (const std::string& path : config.data.paths) check_readable("data.paths", path, config, layer);
}

}  // namespace flopmark
