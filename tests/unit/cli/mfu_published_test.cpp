#include <algorithm>
#include <cmath>

#include "unit/cli/cli_fixture.h"

// Figures that others published, against `flopmark mfu --from`.

namespace flopmark {
namespace {

using nlohmann::json;

/// Half a unit of a figure's last printed digit; a whole number was printed without a fraction.
double half_unit(const json& figure) {
  const std::string text = figure.dump();
  const size_t dot = text.find('.');
  const bool whole = dot == std::string::npos || text.substr(dot) == ".0";
  return 0.5 * std::pow(10.0, whole ? 0.0 : -static_cast<double>(text.size() - dot - 1));
}

/// What rounding the row's throughput can make of any figure that follows from it.
double throughput_rounding_ratio(const json& run) {
  for (const char* key : {"tokens_per_s_total", "step_s", "samples_per_s", "tokens_per_s_per_gpu"}) {
    if (run.contains(key)) return half_unit(run.at(key)) / run.at(key).get<double>();
  }
  return 0;
}

class MfuPublishedTest : public CliTest {
 protected:
  /// Checks every published figure of every row. @returns how many figures there were.
  int check_file(const std::filesystem::path& file) const {
    std::ifstream stream(file);
    const json document = json::parse(stream);
    const auto result = flopmark({"mfu", "--from", file.string(), "--format", "json"});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    const json figures = json::parse(result.out);
    EXPECT_EQ(figures.size(), document.at("cases").size());
    int checked = 0;
    for (const json& row : document.at("cases")) {
      checked += check_row(row, figures.at(row.at("id").get<std::string>()));
    }
    return checked;
  }

 private:
  static int check_row(const json& row, const json& figures) {
    EXPECT_EQ(figures.at("formula"), row.at("formula"));
    EXPECT_EQ(figures.at("hfu_formula"), row.at("hfu_formula"));
    EXPECT_EQ(figures.at("hfu_ratio").is_null(), row.at("hfu_formula").is_null()) << row.at("id");
    const json& published = row.at("published");
    int checked = 0;
    for (const auto& [key, ratio] : {std::pair("mfu", "mfu_ratio"), std::pair("hfu", "hfu_ratio")}) {
      if (published.at(key).is_null() || figures.at(ratio).is_null()) continue;
      expect_close(row, key, figures.at(ratio).get<double>() * 100);
      ++checked;
    }
    return checked + check_tflops(row, figures);
  }

  static int check_tflops(const json& row, const json& figures) {
    const json& published = row.at("published").at("tflops_per_gpu");
    if (published.is_null()) return 0;
    const bool of_hardware = row.value("tflops_kind", "model") == "hardware";
    const json& rate = figures.at(of_hardware ? "hardware_flop_per_s" : "model_flop_per_s");
    const double value = rate.get<double>() / 1e12;
    if (!row.value("tflops_truncated", false)) {
      expect_close(row, "tflops_per_gpu", value);
      return 1;
    }
    const double slack = value * throughput_rounding_ratio(row.at("run"));
    EXPECT_GE(value, published.get<double>() - slack) << row.at("id");
    EXPECT_LT(value, published.get<double>() + 1 + slack) << row.at("id");
    return 1;
  }

  static void expect_close(const json& row, const char* key, double value) {
    const json& published = row.at("published").at(key);
    const double tolerance = 0.02 + 0.001 * published.get<double>() + half_unit(published) +
                             value * throughput_rounding_ratio(row.at("run"));
    EXPECT_NEAR(value, published.get<double>(), tolerance) << row.at("id") << " " << key;
  }
};

TEST_F(MfuPublishedTest, OneRowOfEachPairOfRules) {
  EXPECT_EQ(check_file(std::filesystem::path(FLOPMARK_SOURCE_DIR) / "tests/unit/cli/published_rows.json"),
            14);
}

TEST_F(MfuPublishedTest, EveryRowOfTheSharedFile) {
  const auto file = std::filesystem::path(FLOPMARK_SOURCE_DIR) / "../shared/cases/mfu-published.json";
  if (!std::filesystem::exists(file))
    GTEST_SKIP() << "no " << file << ": the rows beside this test are checked";
  EXPECT_EQ(check_file(std::filesystem::canonical(file)), 133);
}

}  // namespace
}  // namespace flopmark
