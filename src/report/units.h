#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace flopmark {

/// SI values as people read them: four significant digits and the unit that fits. Unknown or not finite:
/// "n/a". Scaling happens here and nowhere else.

/// "200.0 ms", "12.30 us", "1.500 s".
std::string format_seconds(std::optional<double> s);
/// "320.0", "1,234,567": a rate whose unit stands in the label.
std::string format_rate(std::optional<double> per_s);
/// "44.83 MFLOP", "1.088 TFLOP".
std::string format_flop(std::optional<double> flop);
/// "312.0 TFLOP/s".
std::string format_flop_per_s(std::optional<double> flop_per_s);
/// Powers of 1024: "512.0 MiB", "1.500 GiB", "17 B".
std::string format_bytes(std::optional<double> bytes);
/// "1.234 kJ", "12.30 mJ".
std::string format_energy(std::optional<double> j);
/// "1.980 GHz".
std::string format_frequency(std::optional<double> hz);
/// "700.0 W".
std::string format_power(std::optional<double> w);
/// A ratio as a percentage with two decimals: "42.45 %".
std::string format_ratio(std::optional<double> ratio);
/// A share of a whole as a percentage with one decimal: "1.2 %".
std::string format_share(std::optional<double> ratio);
/// "125,248".
std::string format_count(int64_t count);
/// "125,248 parameters", "1 launch": see noun_for.
std::string format_counted(int64_t count, std::string_view one, std::string_view many = {});

/// `text` made safe for a terminal, on one line (see launch/printable_text.h), cut if it is longer than any
/// name should be.
std::string printable(std::string_view text);

}  // namespace flopmark
