#include "data/file_facts.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <system_error>

#include "data/content_hash.h"

namespace flopmark {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

constexpr size_t kPartBytes = size_t{1} << 20;  // stays in a core's cache between hash and maximum
constexpr int64_t kWorthCachingBytes = int64_t{1} << 20;

/// The ids in `bytes`, which begin at an id: mappings start at a page, and headers keep the alignment.
template <typename Id>
std::span<const Id> ids_in(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const Id*>(bytes.data()), bytes.size() / sizeof(Id)};
}

template <typename Id>
int64_t largest(std::span<const std::byte> bytes) {
  Id max = 0;
  for (const Id id : ids_in<Id>(bytes)) max = std::max(max, id);
  return max;
}

FileFacts read_whole(const MappedFile& file, const TokenLayout& layout) {
  ContentHash hash;
  FileFacts facts;
  auto header_bytes = static_cast<size_t>(layout.offset_bytes);
  for (std::span<const std::byte> rest = file.bytes(); !rest.empty();) {
    file.check_unchanged();
    const std::span<const std::byte> part = rest.first(std::min(kPartBytes, rest.size()));
    rest = rest.subspan(part.size());
    hash.add(part);
    const std::span<const std::byte> ids = part.subspan(std::min(header_bytes, part.size()));
    header_bytes = 0;
    facts.max_id =
        std::max(facts.max_id, layout.element_bytes == 1 ? largest<uint8_t>(ids) : largest<uint16_t>(ids));
  }
  facts.hash = fmt::format("{:016x}", hash.value());
  return facts;
}

template <typename Id>
std::optional<int64_t> first_from(std::span<const std::byte> bytes, int64_t bound) {
  const std::span<const Id> ids = ids_in<Id>(bytes);
  const auto found = std::find_if(ids.begin(), ids.end(), [bound](Id id) { return int64_t{id} >= bound; });
  if (found == ids.end()) return std::nullopt;
  return found - ids.begin();
}

bool worth_caching(const FileIdentity& identity) {
  using namespace std::chrono;
  const int64_t now_ns = duration_cast<nanoseconds>(system_clock::now().time_since_epoch()).count();
  return identity.size_bytes >= kWorthCachingBytes && now_ns - identity.mtime_ns > nanoseconds(2s).count();
}

json key_of(const MappedFile& file, const TokenLayout& layout) {
  const FileIdentity& identity = file.identity();
  return {{"path", file.path()},
          {"size_bytes", identity.size_bytes},
          {"mtime_ns", identity.mtime_ns},
          {"inode", identity.inode},
          {"format", layout.format}};
}

fs::path entry_path(const fs::path& folder, const MappedFile& file, const TokenLayout& layout) {
  ContentHash name;
  const std::string text = file.path() + "\n" + layout.format;
  name.add(std::as_bytes(std::span(text)));
  return folder / fmt::format("data-{:016x}.json", name.value());
}

std::optional<FileFacts> read_entry(const fs::path& path, const json& key) {
  std::ifstream stream(path);
  const json entry = json::parse(stream, nullptr, /*allow_exceptions=*/false);
  if (!entry.is_object() || entry.value("schema", json()) != "flopmark.data-facts/1") return std::nullopt;
  const json max_id = entry.value("max_id", json()), hash = entry.value("hash", json());
  if (entry.value("key", json()) != key || !max_id.is_number_unsigned() || !hash.is_string())
    return std::nullopt;
  FileFacts facts{max_id.get<int64_t>(), hash.get<std::string>()};
  const bool hex =
      facts.hash.size() == 16 && facts.hash.find_first_not_of("0123456789abcdef") == std::string::npos;
  if (!hex || facts.max_id < 0 || facts.max_id > UINT16_MAX) return std::nullopt;
  return facts;
}

/// Whole or not at all: other ranks and runs may read and write the same entry now.
void write_entry(const fs::path& path, const json& key, const FileFacts& facts) {
  const json entry = {
      {"schema", "flopmark.data-facts/1"}, {"key", key}, {"max_id", facts.max_id}, {"hash", facts.hash}};
  const std::string text = entry.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  std::string temporary = path.string() + ".XXXXXX";
  const int descriptor = ::mkstemp(temporary.data());
  if (descriptor < 0) return;
  const bool written = ::write(descriptor, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  const bool closed = ::close(descriptor) == 0;
  if (written && closed) fs::rename(temporary, path, error);
  if (!written || !closed || error) fs::remove(temporary, error);
}

}  // namespace

FileFacts file_facts(const MappedFile& file, const TokenLayout& layout,
                     const std::optional<fs::path>& cache_folder) {
  if (!cache_folder || !worth_caching(file.identity())) return read_whole(file, layout);
  const json key = key_of(file, layout);
  const fs::path path = entry_path(*cache_folder, file, layout);
  if (const std::optional<FileFacts> cached = read_entry(path, key)) return *cached;
  const FileFacts facts = read_whole(file, layout);
  file.check_unchanged();
  write_entry(path, key, facts);
  return facts;
}

std::optional<fs::path> default_cache_folder() {
  // The XDG specification has relative paths ignored.
  const char* cache = std::getenv("XDG_CACHE_HOME");
  if (cache && fs::path(cache).is_absolute()) return fs::path(cache) / "flopmark";
  const char* home = std::getenv("HOME");
  if (home && fs::path(home).is_absolute()) return fs::path(home) / ".cache" / "flopmark";
  return std::nullopt;
}

std::optional<int64_t> first_id_from(const MappedFile& file, const TokenLayout& layout, int64_t bound) {
  file.check_unchanged();
  const std::span<const std::byte> ids = file.bytes().subspan(static_cast<size_t>(layout.offset_bytes));
  return layout.element_bytes == 1 ? first_from<uint8_t>(ids, bound) : first_from<uint16_t>(ids, bound);
}

int64_t id_at(const MappedFile& file, const TokenLayout& layout, int64_t position) {
  const auto index = static_cast<size_t>(position);
  const std::span<const std::byte> ids = file.bytes().subspan(static_cast<size_t>(layout.offset_bytes));
  return layout.element_bytes == 1 ? ids_in<uint8_t>(ids)[index] : ids_in<uint16_t>(ids)[index];
}

}  // namespace flopmark
