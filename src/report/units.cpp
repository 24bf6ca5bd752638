#include "report/units.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <span>

#include "flopmark/counted.h"
#include "launch/printable_text.h"

namespace flopmark {
namespace {

constexpr const char* kUnknown = "n/a";
constexpr int kDigits = 4;
constexpr size_t kPrintableBytes = 4096;  // of one name or message

struct Scale {
  double factor;
  const char* unit;
};

constexpr std::array<Scale, 4> kSeconds{{{1e-9, "ns"}, {1e-6, "us"}, {1e-3, "ms"}, {1, "s"}}};
constexpr std::array<Scale, 7> kFlop{{{1, "FLOP"},
                                      {1e3, "kFLOP"},
                                      {1e6, "MFLOP"},
                                      {1e9, "GFLOP"},
                                      {1e12, "TFLOP"},
                                      {1e15, "PFLOP"},
                                      {1e18, "EFLOP"}}};
constexpr std::array<Scale, 5> kEnergy{{{1e-6, "uJ"}, {1e-3, "mJ"}, {1, "J"}, {1e3, "kJ"}, {1e6, "MJ"}}};
constexpr std::array<Scale, 4> kFrequency{{{1, "Hz"}, {1e3, "kHz"}, {1e6, "MHz"}, {1e9, "GHz"}}};
constexpr std::array<Scale, 3> kPower{{{1e-3, "mW"}, {1, "W"}, {1e3, "kW"}}};
constexpr std::array<Scale, 5> kBytes{
    {{1, "B"}, {1024.0, "KiB"}, {1048576.0, "MiB"}, {1073741824.0, "GiB"}, {1099511627776.0, "TiB"}}};

/// Rounded before a unit is chosen, so that 0.99996 ms becomes "1.000 ms" and not "1000.0 us".
double round_to_digits(double value) {
  return std::strtod(fmt::format("{:.{}e}", value, kDigits - 1).c_str(), nullptr);
}

std::string group_thousands(std::string digits) {
  const size_t first = digits.starts_with('-') ? 1 : 0;
  size_t end = digits.find('.');
  if (end == std::string::npos) end = digits.size();
  for (size_t at = end; at > first + 3;) {
    at -= 3;
    digits.insert(at, ",");
  }
  return digits;
}

/// `rounded` in plain notation with four significant digits, never in exponent form.
std::string plain(double rounded) {
  const double size = std::abs(rounded);
  if (size == 0) return "0";
  const int before_point = size < 1 ? 1 : static_cast<int>(std::floor(std::log10(size) + 1e-12)) + 1;
  const int decimals = size < 1 ? kDigits - 1 - static_cast<int>(std::floor(std::log10(size) + 1e-12))
                                : std::max(0, kDigits - before_point);
  return group_thousands(fmt::format("{:.{}f}", rounded, std::min(decimals, 12)));
}

std::string scaled(std::optional<double> value, std::span<const Scale> scales, double step) {
  if (!value || !std::isfinite(*value)) return kUnknown;
  if (*value == 0) {
    const auto base =
        std::find_if(scales.begin(), scales.end(), [](const Scale& scale) { return scale.factor == 1; });
    return fmt::format("0 {}", base->unit);
  }
  const Scale* chosen = &scales.front();
  for (const Scale& scale : scales) {
    const bool reached = round_to_digits(std::abs(*value) / chosen->factor) >= step;
    if (reached && scale.factor > chosen->factor) chosen = &scale;
  }
  return fmt::format("{} {}", plain(round_to_digits(*value / chosen->factor)), chosen->unit);
}

std::string percent(std::optional<double> ratio, int decimals) {
  if (!ratio || !std::isfinite(*ratio)) return kUnknown;
  return fmt::format("{:.{}f} %", *ratio * 100, decimals);
}

}  // namespace

std::string format_seconds(std::optional<double> s) {
  return scaled(s, kSeconds, 1000);
}

std::string format_rate(std::optional<double> per_s) {
  return per_s && std::isfinite(*per_s) ? plain(round_to_digits(*per_s)) : kUnknown;
}

std::string format_flop(std::optional<double> flop) {
  return scaled(flop, kFlop, 1000);
}

std::string format_flop_per_s(std::optional<double> flop_per_s) {
  const std::string text = scaled(flop_per_s, kFlop, 1000);
  return text == kUnknown ? text : text + "/s";
}

std::string format_bytes(std::optional<double> bytes) {
  if (bytes && std::abs(*bytes) < 1024) return fmt::format("{:.0f} B", *bytes);
  return scaled(bytes, kBytes, 1024);
}

std::string format_energy(std::optional<double> j) {
  return scaled(j, kEnergy, 1000);
}

std::string format_frequency(std::optional<double> hz) {
  return scaled(hz, kFrequency, 1000);
}

std::string format_power(std::optional<double> w) {
  return scaled(w, kPower, 1000);
}

std::string format_ratio(std::optional<double> ratio) {
  return percent(ratio, 2);
}

std::string format_share(std::optional<double> ratio) {
  return percent(ratio, 1);
}

std::string format_count(int64_t count) {
  return group_thousands(fmt::format("{}", count));
}

std::string format_counted(int64_t count, std::string_view one, std::string_view many) {
  return format_count(count) + " " + noun_for(count, one, many);
}

std::string printable(std::string_view text) {
  return printable_text(text, kPrintableBytes);
}

}  // namespace flopmark
