#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace flopmark {

/// What a CPU's peak is estimated from. Unknown is absent.
struct CpuFacts {
  std::optional<std::string> model;
  std::set<std::string> flags;  ///< as /proc/cpuinfo writes them: avx2, fma, avx512f, amx_bf16, asimd
  std::optional<int64_t> physical_cores;  ///< of the machine; siblings of one core share its units
  std::optional<double> clock_hz;         ///< the highest known
  std::string clock_source;               ///< where the clock was read
};

/// Facts from the text of /proc/cpuinfo and the highest of the sysfs cpuinfo_max_freq values, in kHz (absent
/// where there is none; the highest "cpu MHz" line then stands for it).
CpuFacts cpu_facts_of(std::string_view cpuinfo, std::optional<double> max_freq_khz);

/// The same, read from this machine. Never fails.
CpuFacts read_cpu_facts();

/// A bound on what matrix products can reach on a CPU. It assumes two vector units of full width per core and
/// the clock above, so it may be too high (one unit, a lower clock under wide vectors) or too low (a turbo
/// clock nobody states): never MFU's denominator.
struct CpuEstimate {
  double flop_per_s = 0;
  int64_t cores = 0;
  double clock_hz = 0;
  double flop_per_cycle = 0;  ///< of one core
  std::string derivation;     ///< the product in words
};

/// For `threads` threads (absent: as many as physical cores) at `precision` (fp64, fp32, bf16, ...; one that
/// the instruction set does not multiply is bounded by fp32). Absent without clock or known instruction set;
/// then `missing` (if given) says what is not known.
std::optional<CpuEstimate> estimate_cpu_peak(const CpuFacts& facts, std::optional<int64_t> threads,
                                             const std::string& precision, std::string* missing = nullptr);

}  // namespace flopmark
