#include "pool_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace flopmark::benchmarks {
namespace {

using nlohmann::json;

std::string six_digits(double value) {
  return fmt::format("{:.6g}", value);
}

std::string six_digits(const std::optional<double>& value) {
  return value ? six_digits(*value) : "null";
}

template <typename Numbers>
std::string array_text(const Numbers& numbers) {
  std::string text;
  for (const auto number : numbers) {
    text += (text.empty() ? "" : ",");
    if constexpr (std::is_integral_v<std::decay_t<decltype(number)>>) {
      text += fmt::format("{}", number);
    } else {
      text += six_digits(number);
    }
  }
  return "[" + text + "]";
}

double finite(const json& row, const char* key) {
  const double value = row.at(key).get<double>();
  if (!std::isfinite(value)) throw std::runtime_error(fmt::format("{} is no number", key));
  return value;
}

std::optional<double> optional_ratio(const json& row, const char* key) {
  return row.at(key).is_null() ? std::nullopt : std::optional(finite(row, key));
}

std::string whole_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

std::string pool_line(const PoolRow& row) {
  const auto text = [](const std::string& value) { return json(value).dump(); };
  return fmt::format(
             R"({{"time":{},"machine":{},"commit":{},"config":{},"seed":{},"threads":{},"injected":{},)"
             R"("flop_a":{},"flop_b":{},"load_before":{},"duration_s":{},"others_cpu_ratio":{},)"
             R"("steal_ratio":{},"disturbed":{},"first":"{}","turns":{},)",
             text(row.time), text(row.machine), text(row.commit), text(row.config), row.seed, row.threads,
             six_digits(row.injected_ratio), row.flop_a, row.flop_b, six_digits(row.load_before),
             six_digits(row.conditions.duration_s), six_digits(row.conditions.others_cpu_ratio),
             six_digits(row.conditions.steal_ratio), row.disturbed ? text(*row.disturbed) : "null",
             row.a_first ? "a" : "b", row.turns) +
         fmt::format(R"("throughput":{},"typical":{},"floor":{},"a_s":{},"b_s":{},"a_us":{},"b_us":{}}})"
                     "\n",
                     six_digits(row.ratios.throughput), six_digits(row.ratios.typical),
                     six_digits(row.ratios.floor), array_text(row.a_s), array_text(row.b_s),
                     array_text(row.a_us), array_text(row.b_us));
}

PoolRow parse_pool_line(std::string_view line) {
  const json object = json::parse(line);
  PoolRow row;
  row.time = object.at("time").get<std::string>();
  row.machine = object.at("machine").get<std::string>();
  row.commit = object.at("commit").get<std::string>();
  row.config = object.at("config").get<std::string>();
  row.seed = object.at("seed").get<uint64_t>();
  row.threads = object.at("threads").get<int64_t>();
  row.injected_ratio = finite(object, "injected");
  row.flop_a = object.at("flop_a").get<int64_t>();
  row.flop_b = object.at("flop_b").get<int64_t>();
  row.load_before = finite(object, "load_before");
  row.conditions = {finite(object, "duration_s"), optional_ratio(object, "others_cpu_ratio"),
                    optional_ratio(object, "steal_ratio")};
  if (!object.at("disturbed").is_null()) row.disturbed = object.at("disturbed").get<std::string>();
  row.a_first = object.at("first").get<std::string>() == "a";
  row.turns = object.at("turns").get<int64_t>();
  row.ratios = {finite(object, "throughput"), finite(object, "typical"), finite(object, "floor")};
  row.a_s = object.at("a_s").get<decltype(row.a_s)>();
  row.b_s = object.at("b_s").get<decltype(row.b_s)>();
  row.a_us = object.at("a_us").get<std::vector<int64_t>>();
  row.b_us = object.at("b_us").get<std::vector<int64_t>>();
  return row;
}

std::vector<PoolRow> read_pool(const std::filesystem::path& path) {
  const std::string text = whole_file(path);
  std::vector<PoolRow> rows;
  for (size_t begin = 0, end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) {
    try {
      rows.push_back(parse_pool_line(std::string_view(text).substr(begin, end - begin)));
    } catch (const std::exception& error) {
      throw std::runtime_error(
          fmt::format("{}: line {} is no pair ({})", path.string(), rows.size() + 1, error.what()));
    }
  }
  return rows;
}

PoolWriter::PoolWriter(const std::filesystem::path& path)
    : fd_(::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644)) {
  const std::string text = fd_ < 0 ? "" : whole_file(path);
  const size_t whole = text.rfind('\n') + 1;  // npos + 1 is 0
  if (fd_ < 0 || (whole < text.size() && ::ftruncate(fd_, static_cast<off_t>(whole)) != 0)) {
    throw std::runtime_error(fmt::format("{}: cannot be written", path.string()));
  }
}

PoolWriter::~PoolWriter() {
  ::close(fd_);
}

void PoolWriter::add(const PoolRow& row) {
  const std::string line = pool_line(row);
  if (::write(fd_, line.data(), line.size()) != static_cast<ssize_t>(line.size())) {
    throw std::runtime_error("a pair could not be written: is the disk full?");
  }
}

}  // namespace flopmark::benchmarks
