#pragma once

#include "flopmark/conditions.h"
#include "flopmark/ruler.h"

namespace flopmark {

// As in results/record_fields.h: one description per struct, walked by writers and readers. `V::Of<T>` is T
// for a reader and const T for a writer.

template <typename V>
void describe(V& visit, typename V::template Of<SampledRange>& range) {
  visit("min", range.min);
  visit("median", range.median);
  visit("max", range.max);
}

template <typename V>
void describe(V& visit, typename V::template Of<Ruler>& ruler) {
  visit("matmul_flop", ruler.matmul_flop);
  visit("matmul_s", ruler.matmul_s);
  visit("copy_bytes", ruler.copy_bytes);
  visit("copy_s", ruler.copy_s);
}

template <typename V>
void describe(V& visit, typename V::template Of<Conditions>& conditions) {
  visit("samples", conditions.samples);
  visit("duration_s", conditions.duration_s);
  visit("device_clock_hz", conditions.device_clock_hz);
  visit("device_memory_clock_hz", conditions.device_memory_clock_hz);
  visit("device_power_w", conditions.device_power_w);
  visit("device_temperature_c", conditions.device_temperature_c);
  visit("cpu_clock_hz", conditions.cpu_clock_hz);
  visit("throttle_ratio", conditions.throttle_ratio);
  visit("device_energy_j", conditions.device_energy_j);
  visit("other_processes", conditions.other_processes);
  visit("others_device_ratio", conditions.others_device_ratio);
  visit("steal_ratio", conditions.steal_ratio);
  visit("others_cpu_ratio", conditions.others_cpu_ratio);
  visit("run_queue_wait_ratio", conditions.run_queue_wait_ratio);
  visit("involuntary_switches_per_step", conditions.involuntary_switches_per_step);
  visit("major_faults_per_step", conditions.major_faults_per_step);
  visit("minor_faults_per_step", conditions.minor_faults_per_step);
}

}  // namespace flopmark
