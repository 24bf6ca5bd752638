#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "flopmark/record.h"
#include "hardware/cpu_conditions.h"
#include "hardware/kernel_files.h"

namespace flopmark {

/// ok: as it should be, or nothing to be done. warn: times will scatter more, or lack something. bad: they
/// would say nothing.
enum class Fitness { ok, warn, bad };
/// ok, warn, bad.
const char* to_text(Fitness fitness);

/// One thing looked at before measuring.
struct FitnessCheck {
  std::string key;  ///< governor, turbo, load, ...
  Fitness fitness = Fitness::ok;
  std::string found;    ///< a sentence without its period
  std::string command;  ///< what changes it, as one types it; empty where nothing need be changed
};

/// What the checks judge. Unknown is absent, and no fault of the machine.
struct FitnessFacts {
  Environment environment;                  ///< of host and worker
  std::optional<std::string> worker_fault;  ///< why the worker could not be asked
  std::optional<int64_t> threads;           ///< that the job will use
  std::optional<CpuShares> load;            ///< of others, while this process slept
  std::optional<int64_t> memory_available_bytes, swap_used_bytes;
  std::optional<std::string> turbo_file;     ///< the switch, below /
  std::optional<int64_t> device_processes;   ///< on a GPU, now
  std::vector<std::string> slowing_reasons;  ///< why the GPU holds its clock down now
};

/// Memory, swap and the turbo switch of this machine; the rest is left absent.
FitnessFacts host_fitness_facts(const KernelFiles& files = {});

/// Every check that applies to the device, in a fixed order: worker, build, clock, governor, turbo, load,
/// steal, threads, memory, swap, and on a GPU gpu_clock, persistence, gpu_processes.
std::vector<FitnessCheck> check_fitness(const FitnessFacts& facts);

/// The worst of them; ok for none.
Fitness worst_fitness(const std::vector<FitnessCheck>& checks);

}  // namespace flopmark
