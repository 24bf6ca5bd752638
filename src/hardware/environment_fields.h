#pragma once

#include "flopmark/record.h"

namespace flopmark {

/// Calls `visit(key, pointer to member)` for every field of an Environment: the one place that names them.
/// Writers, readers and the merge of two environments walk it.
template <typename Visit>
void for_each_environment_field(Visit&& visit) {
  visit("device_name", &Environment::device_name);
  visit("device_count", &Environment::device_count);
  visit("device_uuid", &Environment::device_uuid);
  visit("device_pci_bus_id", &Environment::device_pci_bus_id);
  visit("device_memory_bytes", &Environment::device_memory_bytes);
  visit("device_max_clock_hz", &Environment::device_max_clock_hz);
  visit("device_max_memory_clock_hz", &Environment::device_max_memory_clock_hz);
  visit("device_application_clock_hz", &Environment::device_application_clock_hz);
  visit("device_power_limit_w", &Environment::device_power_limit_w);
  visit("sm_count", &Environment::sm_count);
  visit("sm_clock_hz", &Environment::sm_clock_hz);
  visit("ecc", &Environment::ecc);
  visit("persistence_mode", &Environment::persistence_mode);
  visit("mig", &Environment::mig);
  visit("mig_profile", &Environment::mig_profile);
  visit("interconnect", &Environment::interconnect);
  visit("driver", &Environment::driver);
  visit("libtorch", &Environment::libtorch);
  visit("cuda", &Environment::cuda);
  visit("cudnn", &Environment::cudnn);
  visit("cudnn_benchmark", &Environment::cudnn_benchmark);
  visit("nccl", &Environment::nccl);
  visit("compiler", &Environment::compiler);
  visit("worker_debug", &Environment::worker_debug);
  visit("libtorch_build", &Environment::libtorch_build);
  visit("sanitizers", &Environment::sanitizers);
  visit("threads", &Environment::threads);
  visit("cpu_model", &Environment::cpu_model);
  visit("cpu_logical", &Environment::cpu_logical);
  visit("cpu_affinity", &Environment::cpu_affinity);
  visit("cpu_max_clock_hz", &Environment::cpu_max_clock_hz);
  visit("governor", &Environment::governor);
  visit("turbo", &Environment::turbo);
  visit("smt", &Environment::smt);
  visit("numa_nodes", &Environment::numa_nodes);
  visit("memory_bytes", &Environment::memory_bytes);
  visit("cgroup_cpus", &Environment::cgroup_cpus);
  visit("cgroup_memory_bytes", &Environment::cgroup_memory_bytes);
  visit("container", &Environment::container);
  visit("os", &Environment::os);
  visit("variables", &Environment::variables);
}

/// The same for one Environment: `visit(key, field)`. `V::Of<T>` is T for a reader and const T for a writer.
template <typename V>
void describe(V& visit, typename V::template Of<Environment>& environment) {
  for_each_environment_field([&](const char* key, auto field) { visit(key, environment.*field); });
}

}  // namespace flopmark
