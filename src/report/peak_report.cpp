#include "report/peak_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/text_layout.h"
#include "report/units.h"

namespace flopmark {
namespace {

using nlohmann::json;

constexpr const char* kAnyPrecision = "bf16";  // of the line to add where no precision was asked for

/// One precision of the device asked for.
struct PeakAnswer {
  Peak peak;
  const PeakRow* row = nullptr;  ///< whose figure it is; nullptr: of none
  std::string key;               ///< of the row
};

/// The precisions to answer: the one asked for, else those of the row, else (CPU) those that are measured.
std::vector<std::string> precisions_asked(const PeakSources& sources, const PeakQuestion& question) {
  if (question.precision) return {*question.precision};
  std::vector<std::string> precisions;
  if (const PeakRow* row = find_peak_row(sources.table, question.device.name)) {
    for (const NumberFormat& format : number_formats()) {
      if (row->flop_per_s.contains(format.key)) precisions.emplace_back(format.key);
    }
  } else if (question.device.is_cpu) {
    precisions = {"fp32", "bf16"};
  } else {
    for (const MeasuredPeak& peak : sources.measured) {
      if (peak.device == question.device.name && !peak.threads) precisions.push_back(peak.precision);
    }
  }
  return precisions;
}

std::vector<PeakAnswer> answers_to(const PeakSources& sources, const PeakQuestion& question) {
  std::vector<PeakAnswer> answers;
  for (const std::string& precision : precisions_asked(sources, question)) {
    PeakAnswer answer;
    answer.peak = find_peak(sources, question.device, precision);
    if (answer.peak.source == "table") {
      answer.row = find_peak_row(sources.table, question.device.name);
      answer.key = matmul_key(*answer.row, precision);
    }
    answers.push_back(std::move(answer));
  }
  return answers;
}

/// "132 SMs x 4096 FLOP per clock x 1830 MHz = 989.4 TFLOP/s (-0.0 %)", or why that proves nothing.
std::string cross_check(const PeakAnswer& answer) {
  const auto computed = computed_peak(*answer.row, answer.key);
  if (!computed) return "not cross-checked: the row has no clock or rate for it";
  const std::string product =
      fmt::format("{} SMs x {:g} FLOP per clock x {:g} MHz = {}", *answer.row->sm_count,
                  answer.row->flop_per_clock_per_sm.at(answer.key),
                  answer.row->clock_hz.at(answer.key) * 1e-6, format_flop_per_s(*computed));
  if (answer.row->derived.contains(answer.key)) {
    return product + ", not a cross-check: peak and clock come one from the other";
  }
  // Plus zero turns a rounded -0 into 0.
  const double percent = std::round((*answer.peak.flop_per_s / *computed - 1) * 1000) / 10 + 0.0;
  return fmt::format("{} ({:+.1f} %)", product, percent);
}

/// Null where nothing was cross-checked.
json cross_check_json(const PeakAnswer& answer) {
  const auto computed = computed_peak(*answer.row, answer.key);
  if (!computed || answer.row->derived.contains(answer.key)) return nullptr;
  return {{"sm_count", *answer.row->sm_count},
          {"flop_per_clock_per_sm", answer.row->flop_per_clock_per_sm.at(answer.key)},
          {"clock_hz", answer.row->clock_hz.at(answer.key)},
          {"deviation_ratio", *answer.peak.flop_per_s / *computed - 1}};
}

template <typename T>
json or_null(const std::optional<T>& value) {
  return value ? json(*value) : json(nullptr);
}

json answer_json(const PeakAnswer& answer) {
  const Peak& peak = answer.peak;
  json object = {{"precision", peak.precision},
                 {"flop_per_s", or_null(peak.flop_per_s)},
                 {"source", peak.source},
                 {"reason", or_null(peak.reason)},
                 {"derivation", or_null(peak.derivation)}};
  if (answer.row == nullptr) return object;
  const NumberFormat* format = find_number_format(answer.key);
  object["unit"] = format->unit;
  object["accumulate"] = format->accumulate;
  object["cross_check"] = cross_check_json(answer);
  return object;
}

std::string estimate_line(const PeakSources& sources, const PeakQuestion& question,
                          const std::string& precision) {
  if (!question.device.is_cpu || !sources.cpu) return "";
  std::string missing;
  const auto estimate = estimate_cpu_peak(*sources.cpu, question.device.threads, precision, &missing);
  return hanging("  estimate  ", estimate ? fmt::format("{} {}, never used for MFU: {}", precision,
                                                        format_flop_per_s(estimate->flop_per_s),
                                                        printable(estimate->derivation))
                                          : fmt::format("{}: none, {}", precision, missing));
}

std::string answer_note(const PeakAnswer& answer) {
  if (!answer.peak.flop_per_s) return printable(answer.peak.reason.value_or(""));
  if (answer.row == nullptr) return "measured: " + printable(answer.peak.derivation.value_or(""));
  const NumberFormat* format = find_number_format(answer.key);
  const std::string origin = answer.peak.derivation ? "; " + printable(*answer.peak.derivation) : "";
  return fmt::format("{} units, sums in {}; {}{}", format->unit, format->accumulate, cross_check(answer),
                     origin);
}

std::string row_lines(const PeakRow& row) {
  std::string lines = hanging("row      ", printable(row.name) + ", dense figures at the boost clock");
  if (!row.notes.empty()) lines += hanging("note     ", printable(row.notes));
  for (const std::string& doubt : row.unverified) lines += hanging("unsure   ", printable(doubt));
  for (const std::string& source : row.sources) lines += hanging("source   ", printable(source));
  return lines;
}

/// Estimates of a CPU, one per precision asked for.
json estimates_json(const PeakSources& sources, const PeakQuestion& question) {
  json estimates = json::array();
  if (!question.device.is_cpu || !sources.cpu) return estimates;
  for (const std::string& precision : precisions_asked(sources, question)) {
    const auto estimate = estimate_cpu_peak(*sources.cpu, question.device.threads, precision);
    if (!estimate) continue;
    estimates.push_back({{"precision", precision},
                         {"flop_per_s", estimate->flop_per_s},
                         {"cores", estimate->cores},
                         {"clock_hz", estimate->clock_hz},
                         {"flop_per_cycle", estimate->flop_per_cycle},
                         {"derivation", estimate->derivation}});
  }
  return estimates;
}

}  // namespace

json peak_json(const PeakSources& sources, const PeakQuestion& question) {
  const std::vector<PeakAnswer> answers = answers_to(sources, question);
  json object = {
      {"device", question.device.name}, {"dense", true}, {"flop_per_s", nullptr}, {"reason", nullptr}};
  if (question.device.is_cpu) object["threads"] = or_null(question.device.threads);
  if (answers.empty()) {
    object["reason"] = or_null(find_peak(sources, question.device, kAnyPrecision).reason);
  } else if (question.precision) {
    object.update(answer_json(answers.front()));
  } else {
    object["flop_per_s"] = json::object();
    for (const PeakAnswer& answer : answers) {
      object["flop_per_s"][answer.peak.precision] = or_null(answer.peak.flop_per_s);
      object["peaks"].push_back(answer_json(answer));
    }
  }
  if (question.device.is_cpu) object["estimates"] = estimates_json(sources, question);
  if (const PeakRow* row = find_peak_row(sources.table, question.device.name)) {
    object["row"] = {{"name", row->name},
                     {"notes", row->notes},
                     {"source", row->sources},
                     {"unverified", row->unverified}};
  }
  return object;
}

std::string peak_report(const PeakSources& sources, const PeakQuestion& question) {
  std::string text = printable(question.device.name);
  if (question.device.threads) {
    text += fmt::format(", {} {}", *question.device.threads,
                        *question.device.threads == 1 ? "thread" : "threads");
  }
  text += "\n";
  const std::vector<PeakAnswer> answers = answers_to(sources, question);
  std::vector<TableRow> rows;
  rows.reserve(answers.size() + 1);
  for (const PeakAnswer& answer : answers) {
    rows.push_back(
        {"  " + answer.peak.precision, format_flop_per_s(answer.peak.flop_per_s), answer_note(answer)});
  }
  if (answers.empty()) {
    const Peak none = find_peak(sources, question.device, kAnyPrecision);
    rows.push_back({"  peak", format_flop_per_s(std::nullopt), printable(none.reason.value_or(""))});
  }
  text += format_table(rows);
  for (const PeakAnswer& answer : answers) {
    // Where there is no peak the reason has the estimate.
    if (answer.peak.flop_per_s) text += estimate_line(sources, question, answer.peak.precision);
  }
  if (const PeakRow* row = find_peak_row(sources.table, question.device.name)) text += row_lines(*row);
  return text;
}

Peak sum_of_peaks(const PeakSources& sources, const std::vector<PeakDevice>& devices,
                  const std::string& precision) {
  std::vector<Peak> ranks;
  ranks.reserve(devices.size());
  for (const PeakDevice& device : devices) ranks.push_back(find_peak(sources, device, precision));
  Peak sum = mean_rank_peak(ranks);
  if (sum.flop_per_s) *sum.flop_per_s *= static_cast<double>(ranks.size());
  return sum;
}

json measured_peaks_json(const std::vector<MeasuredPeak>& peaks, const std::string& file) {
  json list = json::array();
  for (const MeasuredPeak& peak : peaks) {
    list.push_back({{"precision", peak.precision},
                    {"flop_per_s", peak.flop_per_s},
                    {"spread_ratio", peak.spread_ratio},
                    {"m", peak.m},
                    {"n", peak.n},
                    {"k", peak.k},
                    {"blocks", peak.blocks},
                    {"timed_s", peak.timed_s},
                    {"time", peak.time}});
  }
  return {{"device", peaks.empty() ? json(nullptr) : json(peaks.front().device)},
          {"threads", peaks.empty() ? json(nullptr) : or_null(peaks.front().threads)},
          {"source", "measured"},
          {"file", file},
          {"peaks", list}};
}

std::string measured_peaks_report(const std::vector<MeasuredPeak>& peaks, const std::string& file) {
  std::string text = peaks.empty() ? "nothing was measured\n" : printable(peaks.front().device) + "\n";
  std::vector<TableRow> rows;
  rows.reserve(peaks.size());
  for (const MeasuredPeak& peak : peaks) {
    rows.push_back(
        {"  " + peak.precision, format_flop_per_s(peak.flop_per_s), printable(derivation_of(peak))});
  }
  return text + format_table(rows) + hanging("kept in  ", printable(file));
}

}  // namespace flopmark
