#include "models/symbolic_operators.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <stdexcept>

namespace flopmark {
namespace {

using c10::IValue;

IValue run(const std::string& target, const std::vector<IValue>& numbers) {
  const SymbolicRow* row = find_symbolic_operator(target);
  EXPECT_NE(row, nullptr) << target;
  EXPECT_EQ(row->arguments, numbers.size()) << target;
  return row->run(numbers);
}

IValue whole_number_of(int64_t value) {
  return value;
}

int64_t of(const std::string& target, int64_t a, int64_t b) {
  return run(target, {whole_number_of(a), whole_number_of(b)}).toInt();
}

TEST(SymbolicOperators, ComputeAsPythonDoes) {
  EXPECT_EQ(of("_operator.add", 2, 3), 5);
  EXPECT_EQ(of("_operator.sub", 2, 3), -1);
  EXPECT_EQ(of("_operator.mul", -2, 3), -6);
  EXPECT_EQ(of("_operator.floordiv", 7, 2), 3);
  EXPECT_EQ(of("_operator.floordiv", -7, 2), -4);
  EXPECT_EQ(of("_operator.floordiv", 7, -2), -4);
  EXPECT_EQ(of("_operator.floordiv", -8, 2), -4);
  EXPECT_EQ(of("_operator.mod", -7, 2), 1);
  EXPECT_EQ(of("_operator.mod", 7, -2), -1);
  EXPECT_EQ(of("_operator.pow", 3, 4), 81);
  EXPECT_EQ(of("_operator.pow", 1, 1 << 30), 1);
  EXPECT_EQ(of("torch.sym_max", 3, 4), 4);
  EXPECT_EQ(of("torch.sym_min", 3, 4), 3);
  EXPECT_EQ(of("_operator.lshift", 3, 2), 12);
  EXPECT_EQ(of("_operator.rshift", 13, 2), 3);
  EXPECT_EQ(run("_operator.truediv", {whole_number_of(1), whole_number_of(4)}).toDouble(), 0.25);
  EXPECT_EQ(run("torch.sym_float", {whole_number_of(3)}).toDouble(), 3.0);
  EXPECT_EQ(run("math.trunc", {-2.7}).toInt(), -2);
  EXPECT_TRUE(run("_operator.le", {whole_number_of(3), 3.0}).toBool());
  EXPECT_FALSE(run("_operator.lt", {whole_number_of(3), whole_number_of(3)}).toBool());
  EXPECT_FALSE(run("_operator.and_", {true, false}).toBool());
  EXPECT_EQ(run("torch.sym_ite", {true, whole_number_of(1), whole_number_of(2)}).toInt(), 1);
  EXPECT_EQ(find_symbolic_operator("os.system"), nullptr);
}

TEST(SymbolicOperators, OverflowAndDivisionByZeroAreErrors) {
  const int64_t most = std::numeric_limits<int64_t>::max(), least = std::numeric_limits<int64_t>::min();
  EXPECT_THROW(of("_operator.add", most, 1), std::runtime_error);
  EXPECT_THROW(of("_operator.sub", least, 1), std::runtime_error);
  EXPECT_THROW(of("_operator.mul", most, 2), std::runtime_error);
  EXPECT_THROW(of("_operator.floordiv", 1, 0), std::runtime_error);
  EXPECT_THROW(of("_operator.floordiv", least, -1), std::runtime_error);
  EXPECT_THROW(of("_operator.mod", 1, 0), std::runtime_error);
  EXPECT_EQ(of("_operator.mod", least, -1), 0);
  EXPECT_THROW(of("_operator.pow", 2, 64), std::runtime_error);
  EXPECT_THROW(of("_operator.lshift", 1, 63), std::runtime_error);
  EXPECT_THROW(run("math.trunc", {1e300}), std::runtime_error);
}

}  // namespace
}  // namespace flopmark
