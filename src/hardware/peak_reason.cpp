#include "hardware/peak_reason.h"

#include <fmt/format.h>

#include <algorithm>

namespace flopmark {
namespace {

constexpr const char* kByHand = "give its dense peak by hand with peak.flop_per_s (FLOP/s of one device)";
constexpr const char* kMig = " MIG ";  // "NVIDIA A100-SXM4-40GB MIG 1g.5gb": the driver's name of a slice

std::string ways_out(const std::string& row_name, const PeakDevice& device, const std::string& precision) {
  return fmt::format("give a file with its row to --peaks: [{}], or {}",
                     row_to_add(row_name, device, precision), kByHand);
}

/// Of a slice: the device it is cut from, if the table has that.
const PeakRow* whole_device(const PeakSources& sources, const std::string& name, std::string& whole) {
  const size_t mark = name.find(kMig);
  if (mark == std::string::npos) return nullptr;
  whole = name.substr(0, mark);
  return find_peak_row(sources.table, whole);
}

std::string other_thread_counts(const PeakSources& sources, const PeakDevice& device,
                                const std::string& precision) {
  std::string counts;
  for (const MeasuredPeak& peak : sources.measured) {
    if (peak.device != device.name || peak.precision != precision || !peak.threads) continue;
    counts += fmt::format("{}{}", counts.empty() ? "" : ", ", *peak.threads);
  }
  return counts.empty() ? "" : fmt::format(" (on file is that of {} threads)", counts);
}

std::string estimate_text(const PeakSources& sources, const PeakDevice& device,
                          const std::string& precision) {
  if (!sources.cpu) return "";
  std::string missing;
  const auto estimate = estimate_cpu_peak(*sources.cpu, device.threads, precision, &missing);
  if (!estimate) return fmt::format("; no estimate either: {}", missing);
  const bool is_large = estimate->flop_per_s >= 1e12;
  return fmt::format("; estimate, never used for MFU: {:.4g} {}FLOP/s = {}",
                     estimate->flop_per_s * (is_large ? 1e-12 : 1e-9), is_large ? "T" : "G",
                     estimate->derivation);
}

}  // namespace

std::string row_to_add(const std::string& row_name, const PeakDevice& device, const std::string& precision) {
  nlohmann::ordered_json row = {{"name", row_name}, {"match", {device.name}}};
  if (device.sm_count) row["sm_count"] = *device.sm_count;
  row["peak_tflops"] = {{precision, "TFLOP_PER_S"}};
  row["source"] = {"WHERE_FROM"};
  std::string text = row.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  const std::string mark = "\"TFLOP_PER_S\"";  // a number to fill in, so no quotes
  return text.replace(text.find(mark), mark.size(), "TFLOP_PER_S");
}

std::string nameless_reason() {
  return fmt::format("the device did not say its name; {}", kByHand);
}

std::string unknown_device_reason(const PeakSources& sources, const PeakDevice& device,
                                  const std::string& precision) {
  std::string whole;
  if (const PeakRow* row = whole_device(sources, device.name, whole)) {
    const std::string own = device.sm_count ? fmt::format("{} SMs", *device.sm_count) : "a part of the SMs";
    return fmt::format(
        "\"{}\" is a slice (MIG) with {}, and the table has the whole \"{}\" with {} SMs: a peak is "
        "not scaled; {}",
        device.name, own, whole, row->sm_count.value_or(0), ways_out(device.name, device, precision));
  }
  const std::string similar = similar_device_name(sources.table, device.name);
  const std::string hint =
      similar.empty() ? "" : fmt::format(" (the table has \"{}\", and matches exactly)", similar);
  return fmt::format("no peak on file for \"{}\"{}; {}", device.name, hint,
                     ways_out(device.name, device, precision));
}

std::string missing_precision_reason(const PeakRow& row, const PeakDevice& device,
                                     const std::string& precision) {
  return fmt::format("the table has no {} peak for \"{}\" ({}); {}", precision, device.name,
                     row.notes.empty() ? "not a matrix format of this device" : row.notes, kByHand);
}

std::string other_sm_count_reason(const PeakRow& row, const PeakDevice& device,
                                  const std::string& precision) {
  return fmt::format("\"{}\" has {} SMs here, but the table's row \"{}\" is for {}: a peak is not scaled; {}",
                     device.name, device.sm_count.value_or(0), row.name, row.sm_count.value_or(0),
                     ways_out(row.name, device, precision));
}

std::string unmeasured_cpu_reason(const PeakSources& sources, const PeakDevice& device,
                                  const std::string& precision) {
  const std::string threads = device.threads ? fmt::format(" with {} {}", *device.threads,
                                                           *device.threads == 1 ? "thread" : "threads")
                                             : "";
  std::string option = device.threads ? fmt::format(" --threads {}", *device.threads) : "";
  if (precision != "fp32" && precision != "bf16")
    option += " --precision " + precision;  // not measured unasked
  return fmt::format(
      "no measured {} peak on file for the CPU \"{}\"{}{}; measure it with: flopmark peak "
      "--measure{}; or {}{}",
      precision, device.name, threads, other_thread_counts(sources, device, precision), option, kByHand,
      estimate_text(sources, device, precision));
}

}  // namespace flopmark
