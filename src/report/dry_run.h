#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "config/run_config.h"

namespace flopmark {

/// Bytes of what lives through a whole training run on one rank, activations not included.
struct StaticMemory {
  int64_t parameters_bytes = 0, gradients_bytes = 0, optimizer_state_bytes = 0;
  int64_t total_bytes() const { return parameters_bytes + gradients_bytes + optimizer_state_bytes; }
};

/// Parameters and gradients in the parameters' type (4 bytes; bf16: 2; the mixed precisions keep fp32
/// parameters); AdamW keeps two values per parameter in that type, SGD one with momentum and none without. Of
/// sharded optimizer state (zero2) a rank has its share; its gradients are whole until they are exchanged.
StaticMemory static_memory(const RunConfig& config, int64_t parameters);

/// What a config would run, by formula and without a worker: keys config (resolved), parameters, flops (one
/// step, one rank; hardware_flop with fused attention unless the config says unfused), memory.
/// Of several ranks also job: what all of them do and hold together. Of a model from a file the last three
/// are null, and `reason` says why.
nlohmann::json dry_run(const RunConfig& config);

/// The figures of a dry_run document in three lines for people; of several ranks in four, and each says
/// whose they are.
std::string dry_run_text(const nlohmann::json& document);

}  // namespace flopmark
