#include "pool_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

namespace flopmark::benchmarks {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

PoolRow example_row() {
  PoolRow row;
  row.time = "2026-01-02T03:04:05.678Z";
  row.machine = "1x-example-cpu";
  row.commit = std::string(40, 'a');
  row.config = "0123456789abcdef";
  row.seed = 18446744073709551615U;
  row.threads = 1;
  row.injected_ratio = 0.05;
  row.flop_a = 100;
  row.flop_b = 105;
  row.load_before = 0.25;
  row.conditions = {2.5, 0.3, std::nullopt};
  row.disturbed = "other processes used 30 % of the CPUs";
  row.a_first = false;
  row.turns = 2;
  row.ratios = {0.0487902, -0.01, 1.5e-5};
  row.a_s = {0.0125, 0.012, 0.011};
  row.b_s = {0.0131, 0.0126, 0.0115};
  row.a_us = {12000, 13000};
  row.b_us = {12600, 13600};
  return row;
}

class PoolFileTest : public ::testing::Test {
 protected:
  PoolFileTest() : path_(fs::path(::testing::TempDir()) / "flopmark-pool-file-test.jsonl") {
    fs::remove(path_);
  }
  ~PoolFileTest() override { fs::remove(path_); }

  std::string text() const {
    std::ifstream in(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void append(const std::string& text) const {
    std::ofstream(path_, std::ios::app | std::ios::binary) << text;
  }

  fs::path path_;
};

TEST_F(PoolFileTest, ARowReadsBackAsItWasWritten) {
  const std::string line = pool_line(example_row());
  ASSERT_EQ(line.back(), '\n');
  const PoolRow read = parse_pool_line(std::string_view(line).substr(0, line.size() - 1));
  EXPECT_EQ(pool_line(read), line);
  EXPECT_EQ(read.seed, 18446744073709551615U);
  EXPECT_EQ(read.disturbed, "other processes used 30 % of the CPUs");
  EXPECT_FALSE(read.a_first);
  EXPECT_FALSE(read.conditions.steal_ratio.has_value());
  EXPECT_DOUBLE_EQ(read.ratios.floor, 1.5e-5);
  EXPECT_THAT(read.b_us, ElementsAre(12600, 13600));
}

TEST_F(PoolFileTest, NoFileIsAnEmptyPool) {
  EXPECT_THAT(read_pool(path_), SizeIs(0));
}

TEST_F(PoolFileTest, ALaterWriterGoesOnAndCutsOffWhatWasTorn) {
  PoolWriter(path_).add(example_row());
  const std::string whole = text();
  append(R"({"time":"2026-01-02T03)");
  EXPECT_THAT(read_pool(path_), SizeIs(1));
  PoolWriter(path_).add(example_row());
  EXPECT_EQ(text(), whole + whole);
  EXPECT_THAT(read_pool(path_), SizeIs(2));
}

TEST_F(PoolFileTest, AFileThatIsAllTornBecomesEmpty) {
  append("{");
  PoolWriter writer(path_);
  EXPECT_EQ(text(), "");
}

TEST_F(PoolFileTest, ABadLineIsNamed) {
  PoolWriter(path_).add(example_row());
  append("{}\n");
  try {
    read_pool(path_);
    FAIL() << "read it";
  } catch (const std::exception& error) {
    EXPECT_THAT(error.what(), HasSubstr("flopmark-pool-file-test.jsonl: line 2 is no pair"));
  }
}

TEST_F(PoolFileTest, ANumberThatIsNoneIsRefused) {
  std::string line = pool_line(example_row());
  line.replace(line.find("\"floor\":1.5e-05"), 15, "\"floor\":null");
  EXPECT_THROW(parse_pool_line(line), std::exception);
}

}  // namespace
}  // namespace flopmark::benchmarks
