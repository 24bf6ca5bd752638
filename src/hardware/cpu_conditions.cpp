#include "hardware/cpu_conditions.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <span>

namespace flopmark {
namespace {

constexpr size_t kMostClocks = 16;
constexpr double kHzPerKhz = 1e3;
// Columns of a cpu line: user nice system idle iowait irq softirq steal (guest time is part of user).
constexpr size_t kColumns = 8, kIdle = 3, kIoWait = 4, kSteal = 7;

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

/// Reads whole numbers parted by blanks from the start of `text`; how many there were, up to `values`' size.
size_t read_numbers(std::string_view text, std::span<double> values) {
  size_t count = 0;
  while (count < values.size()) {
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    uint64_t value = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
    if (parsed.ec != std::errc()) break;
    values[count++] = static_cast<double>(value);
    text.remove_prefix(static_cast<size_t>(parsed.ptr - text.data()));
  }
  return count;
}

/// What stands behind "cpuN " in its line.
std::optional<std::string_view> cpu_line(std::string_view proc_stat, int cpu) {
  const std::string start = fmt::format("cpu{} ", cpu);
  size_t at = 0;
  while (at < proc_stat.size()) {
    const size_t end = std::min(proc_stat.find('\n', at), proc_stat.size());
    const std::string_view line = proc_stat.substr(at, end - at);
    if (line.starts_with(start)) return line.substr(start.size());
    at = end + 1;
  }
  return std::nullopt;
}

std::optional<double> difference(const std::optional<double>& before, const std::optional<double>& after) {
  return before && after ? std::optional(*after - *before) : std::nullopt;
}

}  // namespace

std::optional<CpuTimes> cpu_times_of(std::string_view proc_stat, const std::vector<int>& cpus,
                                     double ticks_per_s) {
  CpuTimes times;
  for (const int cpu : cpus) {
    const auto line = cpu_line(proc_stat, cpu);
    std::array<double, kColumns> ticks{};
    if (!line || read_numbers(*line, ticks) != kColumns) return std::nullopt;
    double total = 0;
    for (const double column : ticks) total += column;
    times.total_s += total / ticks_per_s;
    times.steal_s += ticks[kSteal] / ticks_per_s;
    times.busy_s += (total - ticks[kIdle] - ticks[kIoWait] - ticks[kSteal]) / ticks_per_s;
  }
  return cpus.empty() ? std::nullopt : std::optional(times);
}

std::optional<double> run_queue_wait_of(std::string_view schedstat) {
  std::array<double, 3> values{};
  if (read_numbers(schedstat, values) != values.size()) return std::nullopt;
  // A kernel that does not account for it shows zeros only, even to a process that has run.
  return values[0] > 0 ? std::optional(values[1] * 1e-9) : std::nullopt;
}

CpuCounters::CpuCounters(KernelFiles files, std::vector<int> cpus)
    : files_(std::move(files)), cpus_(std::move(cpus)) {}

CpuReading CpuCounters::read() const {
  CpuReading reading;
  reading.cpus = cpu_times_of(files_.text("proc/stat"), cpus_, static_cast<double>(::sysconf(_SC_CLK_TCK)));
  reading.wait_s = run_queue_wait_of(files_.text("proc/self/schedstat"));
  rusage usage{};
  if (::getrusage(RUSAGE_SELF, &usage) == 0) {
    reading.own_s = seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
    reading.involuntary_switches = usage.ru_nivcsw;
    reading.major_faults = usage.ru_majflt;
    reading.minor_faults = usage.ru_minflt;
  }
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  reading.time_s = std::chrono::duration<double>(now).count();
  return reading;
}

CpuClock::CpuClock(const KernelFiles& files, const std::vector<int>& cpus) {
  const size_t stride = std::max<size_t>(1, (cpus.size() + kMostClocks - 1) / kMostClocks);
  for (size_t i = 0; i < cpus.size(); i += stride) {
    const auto path = files.at(fmt::format("sys/devices/system/cpu/cpu{}/cpufreq/scaling_cur_freq", cpus[i]));
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor >= 0) descriptors_.push_back(descriptor);
  }
}

CpuClock::~CpuClock() {
  for (const int descriptor : descriptors_) ::close(descriptor);
}

std::optional<double> CpuClock::read_hz() const {
  double sum_hz = 0;
  int known = 0;
  for (const int descriptor : descriptors_) {
    char text[32];
    const ssize_t size = ::pread(descriptor, text, sizeof text, 0);
    double khz = 0;
    if (size <= 0 || read_numbers({text, static_cast<size_t>(size)}, {&khz, 1}) != 1) continue;
    sum_hz += khz * kHzPerKhz;
    ++known;
  }
  return known > 0 ? std::optional(sum_hz / known) : std::nullopt;
}

CpuReading moved_on(const CpuReading& reading, const CpuReading& from, const CpuReading& to) {
  const auto moved = [](const auto& value, const auto& before, const auto& after) {
    using Value = std::decay_t<decltype(value)>;
    return value && before && after ? Value(*value + *after - *before) : std::nullopt;
  };
  CpuReading result;
  result.time_s = reading.time_s + to.time_s - from.time_s;
  if (reading.cpus && from.cpus && to.cpus) {
    result.cpus = CpuTimes{reading.cpus->busy_s + to.cpus->busy_s - from.cpus->busy_s,
                           reading.cpus->steal_s + to.cpus->steal_s - from.cpus->steal_s,
                           reading.cpus->total_s + to.cpus->total_s - from.cpus->total_s};
  }
  result.wait_s = moved(reading.wait_s, from.wait_s, to.wait_s);
  result.own_s = moved(reading.own_s, from.own_s, to.own_s);
  result.involuntary_switches =
      moved(reading.involuntary_switches, from.involuntary_switches, to.involuntary_switches);
  result.major_faults = moved(reading.major_faults, from.major_faults, to.major_faults);
  result.minor_faults = moved(reading.minor_faults, from.minor_faults, to.minor_faults);
  return result;
}

CpuShares cpu_shares(const CpuReading& before, const CpuReading& after) {
  CpuShares shares;
  const double wall_s = after.time_s - before.time_s;
  const auto wait_s = difference(before.wait_s, after.wait_s);
  if (wait_s && wall_s > 0) shares.wait_ratio = std::max(0.0, *wait_s / wall_s);
  if (!before.cpus || !after.cpus) return shares;
  const double total_s = after.cpus->total_s - before.cpus->total_s;
  if (!(total_s > 0)) return shares;
  shares.steal_ratio = std::max(0.0, (after.cpus->steal_s - before.cpus->steal_s) / total_s);
  if (const auto own_s = difference(before.own_s, after.own_s)) {
    // The kernel counts CPUs in ticks and processes exactly: a small negative rest is no one's.
    const double others_s = after.cpus->busy_s - before.cpus->busy_s - *own_s;
    shares.others_ratio = std::max(0.0, others_s / total_s);
  }
  return shares;
}

}  // namespace flopmark
