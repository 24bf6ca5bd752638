#include "hardware/cpu_estimate.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>
#include <vector>

#include "hardware/host_facts.h"

namespace flopmark {
namespace {

/// What one core does per cycle with one instruction set. Sources: Intel 64 and IA-32 Optimization Reference
/// Manual (two FMA ports; AMX: a 16 x 16 x 32 tile product in 16 cycles; VDPBF16PS: two products per 32-bit
/// lane); Arm Neoverse optimization guides (two 128-bit pipes). Best first for each precision.
struct InstructionSet {
  const char* precision;
  std::vector<const char*> flags;
  double flop_per_cycle;
  const char* text;
};

const std::vector<InstructionSet>& instruction_sets() {
  static const std::vector<InstructionSet> kSets = {
      {"bf16", {"amx_bf16"}, 1024, "AMX: 16 x 16 x 32 multiply-adds in 16 cycles"},
      {"bf16", {"avx512_bf16"}, 128, "AVX-512 BF16: 2 units x 16 lanes x 2 multiply-adds"},
      {"fp16", {"avx512_fp16"}, 128, "AVX-512 FP16: 2 units x 32 lanes x 1 multiply-add"},
      {"fp64", {"avx512f"}, 32, "AVX-512: 2 units x 8 lanes x 1 multiply-add"},
      {"fp64", {"avx2", "fma"}, 16, "AVX2: 2 units x 4 lanes x 1 multiply-add"},
      {"fp64", {"avx"}, 8, "AVX: 4 lanes x (1 add + 1 multiply)"},
      {"fp64", {"sse2"}, 4, "SSE2: 2 lanes x (1 add + 1 multiply)"},
      {"fp64", {"asimd"}, 8, "Advanced SIMD: 2 units x 2 lanes x 1 multiply-add"},
      {"fp32", {"avx512f"}, 64, "AVX-512: 2 units x 16 lanes x 1 multiply-add"},
      {"fp32", {"avx2", "fma"}, 32, "AVX2: 2 units x 8 lanes x 1 multiply-add"},
      {"fp32", {"avx"}, 16, "AVX: 8 lanes x (1 add + 1 multiply)"},
      {"fp32", {"sse2"}, 8, "SSE2: 4 lanes x (1 add + 1 multiply)"},
      {"fp32", {"asimd"}, 16, "Advanced SIMD: 2 units x 4 lanes x 1 multiply-add"}};
  return kSets;
}

const InstructionSet* best_set(const std::set<std::string>& flags, const std::string& precision) {
  for (const InstructionSet& set : instruction_sets()) {
    const bool present = std::all_of(set.flags.begin(), set.flags.end(),
                                     [&](const char* flag) { return flags.contains(flag); });
    if (present && set.precision == precision) return &set;
  }
  return nullptr;
}

/// The key of a line "key : value" and its value; both empty for another line.
std::pair<std::string_view, std::string_view> key_and_value(std::string_view line) {
  const size_t colon = line.find(':');
  if (colon == std::string_view::npos) return {};
  std::string_view key = line.substr(0, colon), value = line.substr(colon + 1);
  while (!key.empty() && (key.back() == ' ' || key.back() == '\t')) key.remove_suffix(1);
  while (!value.empty() && value.front() == ' ') value.remove_prefix(1);
  return {key, value};
}

std::set<std::string> words_of(std::string_view text) {
  std::set<std::string> words;
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    if (end > 0) words.emplace(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

/// What the lines of /proc/cpuinfo say of all CPUs together.
class CpuinfoReader {
 public:
  void read(std::string_view text) {
    while (!text.empty()) {
      const size_t end = std::min(text.find('\n'), text.size());
      const auto [key, value] = key_and_value(text.substr(0, end));
      if (!key.empty()) take(key, value);
      text.remove_prefix(std::min(end + 1, text.size()));
    }
  }
  std::set<std::string> flags;
  std::set<std::pair<std::string, std::string>> cores;  ///< package and core number
  double mhz = 0;

 private:
  void take(std::string_view key, std::string_view value) {
    if (key == "flags" || key == "Features") flags.merge(words_of(value));
    if (key == "physical id") package_ = value;
    if (key == "core id") cores.emplace(package_, value);
    double number = 0;
    const bool is_clock =
        key == "cpu MHz" &&
        std::from_chars(value.data(), value.data() + value.size(), number).ec == std::errc();
    if (is_clock) mhz = std::max(mhz, number);
  }
  std::string package_;
};

std::string file_text(const std::filesystem::path& file) {
  std::ifstream stream(file);
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::optional<double> highest_max_freq_khz() {
  std::optional<double> highest;
  std::error_code error;
  for (std::filesystem::directory_iterator at("/sys/devices/system/cpu/cpufreq", error), end;
       !error && at != end; at.increment(error)) {
    double khz = 0;
    std::ifstream(at->path() / "cpuinfo_max_freq") >> khz;
    if (khz > highest.value_or(0)) highest = khz;
  }
  return highest;
}

std::optional<CpuEstimate> not_known(std::string* missing, const char* what) {
  if (missing != nullptr) *missing = what;
  return std::nullopt;
}

}  // namespace

CpuFacts cpu_facts_of(std::string_view cpuinfo, std::optional<double> max_freq_khz) {
  CpuinfoReader reader;
  reader.read(cpuinfo);
  CpuFacts facts;
  facts.model = cpu_model_of(cpuinfo);
  facts.flags = std::move(reader.flags);
  if (!reader.cores.empty()) facts.physical_cores = std::ssize(reader.cores);
  if (max_freq_khz && *max_freq_khz > 0) {
    facts.clock_hz = *max_freq_khz * 1e3;
    facts.clock_source = "highest clock, cpuinfo_max_freq";
  } else if (reader.mhz > 0) {
    facts.clock_hz = reader.mhz * 1e6;
    facts.clock_source = "present clock, /proc/cpuinfo";
  }
  return facts;
}

CpuFacts read_cpu_facts() {
  return cpu_facts_of(file_text("/proc/cpuinfo"), highest_max_freq_khz());
}

std::optional<CpuEstimate> estimate_cpu_peak(const CpuFacts& facts, std::optional<int64_t> threads,
                                             const std::string& precision, std::string* missing) {
  const InstructionSet* set = best_set(facts.flags, precision);
  const bool converted = set == nullptr;
  if (converted) set = best_set(facts.flags, "fp32");
  if (set == nullptr) return not_known(missing, "its vector instructions are not known");
  if (!facts.clock_hz) return not_known(missing, "its clock is not known");
  if (!threads && !facts.physical_cores) return not_known(missing, "its number of cores is not known");
  CpuEstimate estimate;
  estimate.cores = threads ? *threads : *facts.physical_cores;
  if (facts.physical_cores) estimate.cores = std::min(estimate.cores, *facts.physical_cores);
  estimate.clock_hz = *facts.clock_hz;
  estimate.flop_per_cycle = set->flop_per_cycle;
  estimate.flop_per_s = static_cast<double>(estimate.cores) * estimate.clock_hz * estimate.flop_per_cycle;
  estimate.derivation =
      fmt::format("{} {} x {:.4g} GHz ({}) x {:g} FLOP per cycle ({}{})", estimate.cores,
                  estimate.cores == 1 ? "core" : "cores", estimate.clock_hz * 1e-9, facts.clock_source,
                  set->flop_per_cycle, set->text, converted ? "; by fp32, there is no " + precision : "");
  return estimate;
}

}  // namespace flopmark
