#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <system_error>

#include "config/strict_json.h"
#include "flopmark/error.h"
#include "measure/samples.h"

namespace flopmark {
namespace {

[[noreturn]] void refuse_write(const std::filesystem::path& path, const std::string& why) {
  throw judge_error(
      fmt::format("cannot write the samples {}: {}; check that the folder exists and the disk has room",
                  path.string(), why));
}

[[noreturn]] void refuse_read(const std::filesystem::path& path, const std::string& why) {
  throw Error(ExitCode::internal,
              fmt::format("cannot read the samples {} that the worker left: {}; please report this fault",
                          path.string(), why));
}

}  // namespace

void write_samples(const LaunchSamples& samples, const std::filesystem::path& path) {
  // A failure's text comes from anywhere; one bad byte in it must not lose the samples.
  const std::string text = to_json(samples).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  std::filesystem::path temporary = path;
  temporary += ".partial";
  errno = 0;
  std::ofstream file(temporary, std::ios::binary | std::ios::trunc);
  file << text << '\n';
  file.close();
  std::error_code failed;
  if (!file) {
    const std::string why = errno != 0 ? std::strerror(errno) : "the write failed";
    std::filesystem::remove(temporary, failed);
    refuse_write(path, why);
  }
  std::filesystem::rename(temporary, path, failed);
  if (failed) {
    const std::string why = failed.message();
    std::filesystem::remove(temporary, failed);
    refuse_write(path, why);
  }
}

LaunchSamples read_samples(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    refuse_read(path, "there is no such file");
  }
  try {
    return launch_samples_from_json(nlohmann::json::parse(file));
  } catch (const nlohmann::json::exception& error) {
    refuse_read(path, json_complaint(error));
  } catch (const std::exception& error) {
    refuse_read(path, error.what());
  }
}

}  // namespace flopmark
