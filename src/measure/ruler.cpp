#include "measure/ruler.h"

#include <algorithm>

#include "stats/quantile.h"

namespace flopmark {
namespace {

constexpr double kMoved = 0.10;

double seconds_between(int64_t from_ns, int64_t to_ns) {
  return static_cast<double>(to_ns - from_ns) * 1e-9;
}

void warm_ruler(RulerKernel& kernel, Clock& clock) {
  const int64_t start_ns = clock.now_ns();
  do kernel.matmul();
  while (seconds_between(start_ns, clock.now_ns()) < kRulerWarmup_s);
  kernel.copy();
}

template <typename Call>
double median_s(Clock& clock, const Call& call) {
  std::vector<double> times_s;
  for (int repetition = 0; repetition < kRulerRepetitions; ++repetition) {
    const int64_t start_ns = clock.now_ns();
    call();
    times_s.push_back(seconds_between(start_ns, clock.now_ns()));
  }
  return median(times_s);
}

bool same_ruler(const Ruler& a, const Ruler& b) {
  return a.matmul_flop == b.matmul_flop && a.copy_bytes == b.copy_bytes;
}

}  // namespace

void read_ruler(RulerKernel& kernel, Clock& clock, Ruler& ruler) {
  ruler.matmul_flop = kernel.matmul_flop();
  ruler.copy_bytes = kernel.copy_bytes();
  warm_ruler(kernel, clock);
  const double matmul_s = median_s(clock, [&] { kernel.matmul(); });
  const double copy_s = median_s(clock, [&] { kernel.copy(); });
  ruler.matmul_s.push_back(matmul_s);
  ruler.copy_s.push_back(copy_s);
}

std::optional<Ruler> merge_rulers(const std::vector<LaunchSamples>& launches) {
  std::optional<Ruler> merged;
  for (const LaunchSamples& launch : launches) {
    if (!launch.ruler || launch.ruler->matmul_s.empty()) continue;
    const Ruler& ruler = *launch.ruler;
    if (!merged) merged = Ruler{ruler.matmul_flop, ruler.copy_bytes, {}, {}};
    if (!same_ruler(*merged, ruler)) continue;
    merged->matmul_s.insert(merged->matmul_s.end(), ruler.matmul_s.begin(), ruler.matmul_s.end());
    merged->copy_s.insert(merged->copy_s.end(), ruler.copy_s.begin(), ruler.copy_s.end());
  }
  return merged;
}

double reading_spread(const std::vector<double>& readings_s) {
  if (readings_s.size() < 2) return 0;
  const auto [fastest, slowest] = std::minmax_element(readings_s.begin(), readings_s.end());
  return *fastest > 0 ? *slowest / *fastest - 1 : 0;
}

bool ruler_moved(const Ruler& ruler) {
  return reading_spread(ruler.matmul_s) > kMoved || reading_spread(ruler.copy_s) > kMoved;
}

}  // namespace flopmark
