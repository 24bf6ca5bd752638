#include <fmt/format.h>

#include "report/mfu_parts.h"
#include "report/mfu_report.h"
#include "report/units.h"

namespace flopmark {
namespace {

std::string rate_rule(const char* kind, std::optional<double> flop_per_s, const Peak& peak) {
  if (!flop_per_s) return "not given; --hardware-flop-per-s gives what was executed, re-run parts included";
  if (!peak.flop_per_s) return "no peak: " + printable(peak.reason.value_or("not known"));
  return fmt::format("{} {} / peak {}", kind, format_flop_per_s(flop_per_s),
                     format_flop_per_s(peak.flop_per_s));
}

/// Empty where both figures are possible.
std::string impossible_rate(const RateSubject& subject, const Utilization& use) {
  if (use.is_possible()) return "";
  return fmt::format(
      "above 100 % is impossible ({}): no device does more than its peak. Used: {} model and {} hardware "
      "FLOPs, peak {}. Check that the FLOP/s are of one device, and that the peak is of this device and "
      "precision",
      impossible_figure(use), format_flop_per_s(subject.rates.model_flop_per_s),
      format_flop_per_s(subject.rates.hardware_flop_per_s), peak_fact(subject.peak));
}

}  // namespace

std::string rate_table(const RateSubject& subject, TableStyle style) {
  const FlopRates& rates = subject.rates;
  const Utilization use = utilization_of(rates, subject.peak.flop_per_s);
  const Grid grid{
      "lrl",
      {{"per device", "of peak", "rule"},
       {"MFU", format_share(use.mfu_ratio), rate_rule("model", rates.model_flop_per_s, subject.peak)},
       {"HFU", format_share(use.hfu_ratio), rate_rule("hardware", rates.hardware_flop_per_s, subject.peak)}}};
  const double all = rates.model_flop_per_s * static_cast<double>(subject.devices);
  const Facts facts{{"peak", peak_fact(subject.peak)},
                    {"speed", fmt::format("{} per device by model FLOPs, {} in all on {}",
                                          format_flop_per_s(rates.model_flop_per_s), format_flop_per_s(all),
                                          device_count_text(subject.devices))}};
  const std::string impossible = impossible_rate(subject, use);
  return format_facts(facts, style) + "\n" + format_grid(grid, style) +
         (impossible.empty() ? "" : "\n" + format_facts({{"INVALID", impossible}}, style));
}

nlohmann::ordered_json rate_json(const RateSubject& subject) {
  const Utilization use = utilization_of(subject.rates, subject.peak.flop_per_s);
  nlohmann::ordered_json document;
  document["devices"] = subject.devices;
  document["peak"] = peak_json(subject.peak);
  add_utilization(subject.rates, use, document);
  add_all_devices(subject.rates, subject.devices, document);
  add_status(impossible_rate(subject, use), document);
  return document;
}

}  // namespace flopmark
