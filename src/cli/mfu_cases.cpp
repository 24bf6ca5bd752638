#include "cli/mfu_cases.h"

#include <fmt/format.h>

#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>
#include <stdexcept>

#include "cli/mfu_options.h"
#include "config/key_value.h"
#include "config/strict_json.h"
#include "flopmark/error.h"
#include "flops/checked_math.h"

namespace flopmark {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

constexpr uintmax_t kLargestCaseFileBytes = 16777216;
constexpr double kExactWholeNumber = 9007199254740992.0;  // 2^53
constexpr double kThroughputTolerance = 0.01;

/// Reads keys of one row; every message names the row and the key.
class CaseReader {
 public:
  CaseReader(const json& row, std::string where) : row_(row), where_(std::move(where)) {}

  template <typename... Args>
  [[noreturn]] void fail(fmt::format_string<Args...> text, Args&&... args) const {
    throw usage_error(where_ + ": " + fmt::format(text, std::forward<Args>(args)...));
  }

  /// nullptr if there is no such key. A dotted key lies in an object of the row.
  const json* find(const std::string& key) const {
    const size_t dot = key.find('.');
    if (dot == std::string::npos) return member(row_, key);
    const json* section = member(row_, key.substr(0, dot));
    if (section == nullptr) return nullptr;
    if (!section->is_object()) {
      fail("{}: found {}, expected an object", key.substr(0, dot), found_text(*section));
    }
    return member(*section, key.substr(dot + 1));
  }
  const json& need(const std::string& key) const {
    const json* value = find(key);
    if (value == nullptr) fail("{} is missing", key);
    return *value;
  }

  int64_t count(const std::string& key) const {
    const json& value = need(key);
    const bool fits = value.is_number() && value.get<double>() >= 1 &&
                      value.get<double>() <= kExactWholeNumber &&
                      std::trunc(value.get<double>()) == value.get<double>();
    if (!fits) {
      fail("{}: found {}, expected a whole number from 1 to {:.0f}", key, found_text(value),
           kExactWholeNumber);
    }
    return value.get<int64_t>();
  }
  double number(const std::string& key) const {
    const json& value = need(key);
    const bool fits =
        value.is_number() && value.get<double>() >= kLeastInput && value.get<double>() <= kLargestInput;
    if (!fits) {
      fail("{}: found {}, expected a number > 0, from {:g} to {:g}", key, found_text(value), kLeastInput,
           kLargestInput);
    }
    return value.get<double>();
  }
  /// Absent and null alike: nothing.
  std::optional<double> optional_number(const std::string& key) const {
    const json* value = find(key);
    if (value == nullptr || value->is_null()) return std::nullopt;
    return number(key);
  }

 private:
  static const json* member(const json& object, const std::string& key) {
    const auto found = object.find(key);
    return found == object.end() ? nullptr : &*found;
  }

  const json& row_;
  std::string where_;
};

TransformerShape shape_of_case(const CaseReader& reader) {
  TransformerShape shape;
  shape.layers = reader.count("model.layers");
  shape.hidden_size = reader.count("model.hidden");
  shape.heads = reader.count("model.heads");
  shape.head_size = reader.count("model.head_dim");
  shape.sequence_length = reader.count("model.seq_len");
  shape.parameters = reader.count("model.params");
  shape.matmul_parameters = reader.count("model.params_matmul");
  shape.parameters_without_input_embedding = reader.count("model.params_without_input_embedding");
  shape.output_parameters = checked_multiply(reader.count("model.vocab"), shape.hidden_size);
  if (shape.matmul_parameters < shape.output_parameters) {
    reader.fail("model.params_matmul: found {}, less than vocab x hidden = {} of the output layer alone",
                shape.matmul_parameters, shape.output_parameters);
  }
  if (shape.parameters < shape.parameters_without_input_embedding) {
    reader.fail("model.params_without_input_embedding: found {}, more than model.params {}",
                shape.parameters_without_input_embedding, shape.parameters);
  }
  return shape;
}

/// Tokens per second and device by each key that says something of it.
struct ThroughputOfKey {
  const char* key;
  double tokens_per_s_per_device;
};

std::vector<ThroughputOfKey> throughputs_of_case(const CaseReader& reader, const MfuCase& row) {
  const auto devices = static_cast<double>(row.devices);
  const auto length = static_cast<double>(row.shape.sequence_length);
  std::vector<ThroughputOfKey> found;
  if (const auto rate = reader.optional_number("run.tokens_per_s_total")) {
    found.push_back({"run.tokens_per_s_total", *rate / devices});
  }
  if (const auto seconds = reader.optional_number("run.step_s")) {
    const auto samples = static_cast<double>(reader.count("run.global_batch"));
    found.push_back({"run.step_s", samples * length / *seconds / devices});
  }
  if (const auto rate = reader.optional_number("run.samples_per_s")) {
    found.push_back({"run.samples_per_s", *rate * length / devices});
  }
  if (const auto rate = reader.optional_number("run.tokens_per_s_per_gpu")) {
    found.push_back({"run.tokens_per_s_per_gpu", *rate});
  }
  return found;
}

double throughput_of_case(const CaseReader& reader, const MfuCase& row) {
  const std::vector<ThroughputOfKey> found = throughputs_of_case(reader, row);
  if (found.empty()) {
    reader.fail(
        "no throughput; give one of run.tokens_per_s_total, run.step_s with run.global_batch, "
        "run.samples_per_s and run.tokens_per_s_per_gpu");
  }
  const ThroughputOfKey& first = found.front();
  for (const ThroughputOfKey& other : found) {
    const double ratio = other.tokens_per_s_per_device / first.tokens_per_s_per_device;
    if (std::abs(ratio - 1) <= kThroughputTolerance) continue;
    reader.fail(
        "{} makes {:.6g} tokens/s per device, {} makes {:.6g}; correct one of them, or "
        "hardware.count",
        first.key, first.tokens_per_s_per_device, other.key, other.tokens_per_s_per_device);
  }
  return first.tokens_per_s_per_device;
}

template <typename Row>
const Row* rule_of_case(const CaseReader& reader, const std::string& key, const std::vector<Row>& rows,
                        const Row* (*find)(std::string_view)) {
  const json& value = reader.need(key);
  const Row* row = value.is_string() ? find(value.get_ref<const std::string&>()) : nullptr;
  if (row != nullptr) return row;
  std::string known;
  for (const Row& each : rows) known += (known.empty() ? "" : ", ") + std::string(each.published_key);
  reader.fail("{}: found {}, expected one of {}", key, found_text(value), known);
}

/// Counts that do not fit are an error of this row, not of whoever prints it.
void check_countable(const CaseReader& reader, const MfuCase& row) try {
  row.convention->flop_per_token(row.shape);
  if (row.hardware_rule != nullptr) row.hardware_rule->flop_per_token(row.shape, *row.convention);
} catch (const std::overflow_error& error) {
  reader.fail("model: too large to count: {}", error.what());
}

MfuCase parse_case(const json& row, const std::string& id, const std::string& where) {
  const CaseReader reader(row, where);
  MfuCase result;
  result.id = id;
  try {
    result.shape = shape_of_case(reader);
  } catch (const std::overflow_error& error) {
    reader.fail("model: too large to count: {}", error.what());
  }
  result.devices = reader.count("hardware.count");
  result.peak_flop_per_s = reader.number("hardware.peak_tflops") * 1e12;
  result.tokens_per_s_per_device = throughput_of_case(reader, result);
  result.convention = rule_of_case(reader, "formula", flop_conventions(), find_flop_convention);
  if (!reader.need("hfu_formula").is_null()) {
    result.hardware_rule = rule_of_case(reader, "hfu_formula", hardware_rules(), find_hardware_rule);
  }
  check_countable(reader, result);
  return result;
}

/// The row's name; before it is known, its number from 1.
std::string id_of_case(const json& row, size_t number, const std::string& source) {
  const std::string where = fmt::format("{}: case {}", source, number);
  if (!row.is_object()) {
    throw usage_error(fmt::format("{}: found {}, expected an object", where, found_text(row)));
  }
  const auto id = row.find("id");
  if (id == row.end()) throw usage_error(where + ": id is missing");
  if (!id->is_string() || id->get_ref<const std::string&>().empty()) {
    throw usage_error(fmt::format("{}: id: found {}, expected a name", where, found_text(*id)));
  }
  return id->get<std::string>();
}

const json& rows_of(const json& document, const std::string& source) {
  const bool wrapped = document.is_object() && document.contains("cases");
  const json& rows = wrapped ? document.at("cases") : document;
  if (!rows.is_array()) {
    throw usage_error(fmt::format("{}: found {}, expected an array of cases, or an object with \"cases\"",
                                  source, found_text(rows)));
  }
  if (rows.empty()) throw usage_error(source + ": holds no cases");
  return rows;
}

}  // namespace

std::vector<MfuCase> parse_mfu_cases(const std::string& text, const std::string& source) {
  const JsonDocument document = parse_strict_json(text, source);
  std::vector<MfuCase> cases;
  std::set<std::string> ids;
  for (const json& row : rows_of(document.value, source)) {
    const std::string id = id_of_case(row, cases.size() + 1, source);
    const std::string where = fmt::format("{}: case {}", source, quoted_text(id));
    if (!ids.insert(id).second) throw usage_error(where + ": id is given twice; each names one row");
    cases.push_back(parse_case(row, id, where));
  }
  return cases;
}

std::vector<MfuCase> read_mfu_cases(const fs::path& file) {
  const auto refuse = [&](const std::string& why) { throw usage_error(file.string() + ": " + why); };
  std::error_code error;
  const fs::file_status status = fs::status(file, error);
  if (!fs::exists(status)) refuse("no such file; --from reads rows of published figures");
  if (!fs::is_regular_file(status)) refuse("is not a regular file");
  if (fs::file_size(file, error) > kLargestCaseFileBytes) refuse("is larger than 16 MiB: no file of cases");
  errno = 0;
  std::ifstream stream(file, std::ios::binary);
  if (!stream) refuse(fmt::format("cannot be read: {}", std::strerror(errno)));
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  if (stream.bad()) refuse("cannot be read to its end");
  if (text.find_first_not_of(" \t\r\n") == std::string::npos) refuse("is empty; expected an array of cases");
  return parse_mfu_cases(text, file.string());
}

}  // namespace flopmark
