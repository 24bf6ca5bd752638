#include "models/symbolic_operators.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <stdexcept>

namespace flopmark {
namespace {

using c10::IValue;
using Numbers = std::vector<IValue>;

bool is_whole(const IValue& value) {
  return value.isInt() || value.isBool();
}

int64_t whole(const IValue& value) {
  return value.isBool() ? static_cast<int64_t>(value.toBool()) : value.toInt();
}

double real(const IValue& value) {
  return is_whole(value) ? static_cast<double>(whole(value)) : value.toDouble();
}

bool truth(const IValue& value) {
  return real(value) != 0;
}

[[noreturn]] void overflow() {
  throw std::runtime_error("a size is too large to count");
}

void require_divisor(bool is_zero) {
  if (is_zero) throw std::runtime_error("a size is divided by zero");
}

IValue add(const Numbers& n) {
  if (!is_whole(n[0]) || !is_whole(n[1])) return real(n[0]) + real(n[1]);
  int64_t sum = 0;
  if (__builtin_add_overflow(whole(n[0]), whole(n[1]), &sum)) overflow();
  return sum;
}

IValue subtract(const Numbers& n) {
  if (!is_whole(n[0]) || !is_whole(n[1])) return real(n[0]) - real(n[1]);
  int64_t difference = 0;
  if (__builtin_sub_overflow(whole(n[0]), whole(n[1]), &difference)) overflow();
  return difference;
}

IValue multiply(const Numbers& n) {
  if (!is_whole(n[0]) || !is_whole(n[1])) return real(n[0]) * real(n[1]);
  int64_t product = 0;
  if (__builtin_mul_overflow(whole(n[0]), whole(n[1]), &product)) overflow();
  return product;
}

/// Rounds towards minus infinity, as // does.
IValue floor_divide(const Numbers& n) {
  if (!is_whole(n[0]) || !is_whole(n[1])) {
    require_divisor(real(n[1]) == 0);
    return std::floor(real(n[0]) / real(n[1]));
  }
  const int64_t a = whole(n[0]), b = whole(n[1]);
  require_divisor(b == 0);
  if (b == -1) return subtract({IValue(int64_t{0}), n[0]});
  return a / b - static_cast<int64_t>(a % b != 0 && (a < 0) != (b < 0));
}

/// Has the sign of the divisor, as % does.
IValue modulo(const Numbers& n) {
  if (!is_whole(n[0]) || !is_whole(n[1])) {
    require_divisor(real(n[1]) == 0);
    return real(n[0]) - std::floor(real(n[0]) / real(n[1])) * real(n[1]);
  }
  const int64_t a = whole(n[0]), b = whole(n[1]);
  require_divisor(b == 0);
  if (b == -1) return int64_t{0};
  const int64_t rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

IValue power(const Numbers& n) {
  const bool is_count = is_whole(n[0]) && is_whole(n[1]) && whole(n[1]) >= 0;
  if (!is_count) return std::pow(real(n[0]), real(n[1]));
  constexpr int64_t kMostFactors = 64;  // more overflow, unless the base is 0 or 1
  const int64_t base = whole(n[0]), exponent = whole(n[1]);
  if (base == 0 || base == 1) return exponent == 0 ? int64_t{1} : base;
  if (exponent > kMostFactors) overflow();
  IValue result = int64_t{1};
  for (int64_t i = 0; i < exponent; ++i) result = multiply({result, n[0]});
  return result;
}

IValue divide(const Numbers& n) {
  require_divisor(real(n[1]) == 0);
  return real(n[0]) / real(n[1]);
}

IValue truncated(const Numbers& n) {
  if (is_whole(n[0])) return whole(n[0]);
  const double number = std::trunc(real(n[0]));
  if (!(std::fabs(number) < 9e18)) overflow();
  return static_cast<int64_t>(number);
}

bool less(const IValue& a, const IValue& b) {
  return is_whole(a) && is_whole(b) ? whole(a) < whole(b) : real(a) < real(b);
}

bool equal(const IValue& a, const IValue& b) {
  return is_whole(a) && is_whole(b) ? whole(a) == whole(b) : real(a) == real(b);
}

int64_t shift_of(const IValue& value) {
  constexpr int64_t kMostBits = 62;
  const int64_t shift = whole(value);
  if (shift < 0 || shift > kMostBits) overflow();
  return shift;
}

IValue logical(const Numbers& n, bool both) {
  if (n[0].isBool() && n[1].isBool()) return both ? truth(n[0]) && truth(n[1]) : truth(n[0]) || truth(n[1]);
  return both ? whole(n[0]) & whole(n[1]) : whole(n[0]) | whole(n[1]);
}

constexpr SymbolicRow kRows[] = {
    {"_operator.add", 2, add},
    {"_operator.sub", 2, subtract},
    {"_operator.mul", 2, multiply},
    {"_operator.floordiv", 2, floor_divide},
    {"_operator.mod", 2, modulo},
    {"_operator.pow", 2, power},
    {"_operator.truediv", 2, divide},
    {"_operator.neg", 1,
     [](const Numbers& n) {
       return subtract({IValue(int64_t{0}), n[0]});
     }},
    {"_operator.pos", 1, [](const Numbers& n) { return n[0]; }},
    {"_operator.eq", 2, [](const Numbers& n) { return IValue(equal(n[0], n[1])); }},
    {"_operator.ne", 2, [](const Numbers& n) { return IValue(!equal(n[0], n[1])); }},
    {"_operator.lt", 2, [](const Numbers& n) { return IValue(less(n[0], n[1])); }},
    {"_operator.gt", 2, [](const Numbers& n) { return IValue(less(n[1], n[0])); }},
    {"_operator.le", 2, [](const Numbers& n) { return IValue(!less(n[1], n[0])); }},
    {"_operator.ge", 2, [](const Numbers& n) { return IValue(!less(n[0], n[1])); }},
    {"_operator.and_", 2, [](const Numbers& n) { return logical(n, true); }},
    {"_operator.or_", 2, [](const Numbers& n) { return logical(n, false); }},
    {"_operator.lshift", 2,
     [](const Numbers& n) {
       return multiply({n[0], IValue(int64_t{1} << shift_of(n[1]))});
     }},
    {"_operator.rshift", 2, [](const Numbers& n) { return IValue(whole(n[0]) >> shift_of(n[1])); }},
    {"math.trunc", 1, truncated},
    {"torch.sym_int", 1, truncated},
    {"torch.sym_float", 1, [](const Numbers& n) { return IValue(real(n[0])); }},
    {"torch.sym_not", 1, [](const Numbers& n) { return IValue(!truth(n[0])); }},
    {"torch.sym_ite", 3, [](const Numbers& n) { return truth(n[0]) ? n[1] : n[2]; }},
    {"torch.sym_max", 2, [](const Numbers& n) { return less(n[0], n[1]) ? n[1] : n[0]; }},
    {"torch.sym_min", 2, [](const Numbers& n) { return less(n[1], n[0]) ? n[1] : n[0]; }},
    {"torch.sym_sqrt", 1, [](const Numbers& n) { return IValue(std::sqrt(real(n[0]))); }},
};

}  // namespace

const SymbolicRow* find_symbolic_operator(const std::string& target) {
  const auto* found = std::find_if(std::begin(kRows), std::end(kRows),
                                   [&](const SymbolicRow& row) { return target == row.target; });
  return found == std::end(kRows) ? nullptr : found;
}

}  // namespace flopmark
