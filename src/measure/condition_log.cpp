#include "measure/condition_log.h"

#include <algorithm>
#include <array>

namespace flopmark {
namespace {

constexpr size_t kListedProcesses = 64;
constexpr int64_t kSamplesPerProcessList = 10;

}  // namespace

OtherUse other_use_of(std::span<const NvmlProcess> processes, int64_t own_pid) {
  const auto is_own = [&](const NvmlProcess& process) { return process.pid == own_pid; };
  OtherUse use;
  use.processes = std::max<int64_t>(0, std::ssize(processes) - 1);
  if (use.processes == 0) {
    use.busy_ratio = 0;
  }
  if (processes.empty() || std::none_of(processes.begin(), processes.end(), is_own)) {
    return use;
  }
  double busy_ratio = 0;
  for (const NvmlProcess& process : processes) {
    if (is_own(process)) {
      continue;
    }
    if (!process.busy_ratio) {
      return use;
    }
    busy_ratio += *process.busy_ratio;
  }
  use.busy_ratio = busy_ratio;
  return use;
}

ConditionLog::ConditionLog(const ConditionSources& sources)
    : sources_(sources), counters_(sources.files, sources.cpus), clock_(sources.files, sources.cpus) {}

void ConditionLog::begin() {
  samples_.clear();
  samples_.reserve(kMostSamples);
  taken_ = 0;
  is_paused_ = false;
  first_ = counters_.read();
  take();
}

bool ConditionLog::take() {
  const bool is_full = samples_.size() == kMostSamples;
  if (is_full) {
    for (size_t i = 0; i < kMostSamples / 2; ++i) {
      samples_[i] = samples_[2 * i];
    }
    samples_.resize(kMostSamples / 2);
  }
  samples_.push_back(sample(taken_ % kSamplesPerProcessList == 0));
  ++taken_;
  return is_full;
}

ConditionSample ConditionLog::sample(bool with_processes) {
  ConditionSample sample;
  sample.cpu_clock_hz = clock_.read_hz();
  if (sources_.device == nullptr) {
    return sample;
  }
  sample.device = sources_.device->read();
  if (sources_.turns) sample.device.energy_j.reset();
  if (with_processes && !sources_.turns) {
    std::array<NvmlProcess, kListedProcesses> processes{};
    const auto count = sources_.device->list_processes(processes);
    if (count) {
      const size_t listed = std::min(*count, processes.size());
      sample.others = other_use_of(std::span(processes).first(listed), sources_.own_pid);
    }
  }
  return sample;
}

void ConditionLog::pause() {
  paused_ = counters_.read();
  is_paused_ = true;
}

void ConditionLog::resume() {
  if (is_paused_) first_ = moved_on(first_, paused_, counters_.read());
  is_paused_ = false;
}

Conditions ConditionLog::end(int64_t steps) {
  resume();
  taken_ = 0;  // the last one lists processes too
  take();
  return summarize_conditions(samples_, first_, counters_.read(), steps);
}

}  // namespace flopmark
