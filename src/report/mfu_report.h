#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "flopmark/record.h"
#include "flops/conventions.h"
#include "metrics/utilization.h"
#include "report/grid.h"

namespace flopmark {

/// A training run of which shape and throughput are known.
struct MfuSubject {
  std::string model;  ///< "llama (llama-3-8b)"
  TransformerShape shape;
  Peak peak;  ///< of one device
  int64_t devices = 1;
  double tokens_per_s_per_device = 0;
  std::string given;          ///< the throughput as it was given
  std::string checkpointing;  ///< none, full, selective
  const HardwareRule* hardware_rule = nullptr;
};

/// MFU and HFU under every convention, with every input and the rule of each figure. Where the peak is not
/// known they are n/a (null) with the reason; above 100 % the last line (`status`) says that it is
/// impossible.
std::string mfu_table(const MfuSubject& subject, TableStyle style);
nlohmann::ordered_json mfu_json(const MfuSubject& subject);

/// FLOP/s that somebody else counted, of one device.
struct RateSubject {
  FlopRates rates;
  Peak peak;
  int64_t devices = 1;
};
std::string rate_table(const RateSubject& subject, TableStyle style);
nlohmann::ordered_json rate_json(const RateSubject& subject);

/// One row of a file of published figures, under its own rules.
struct MfuCase {
  std::string id;
  TransformerShape shape;
  int64_t devices = 1;
  double peak_flop_per_s = 0;  ///< of one device
  double tokens_per_s_per_device = 0;
  const FlopConvention* convention = nullptr;
  const HardwareRule* hardware_rule = nullptr;  ///< nullptr: the source says nothing of HFU
};
std::string case_table(const std::vector<MfuCase>& cases, TableStyle style);
/// An object per id, in the order of the cases.
nlohmann::ordered_json case_json(const std::vector<MfuCase>& cases);

}  // namespace flopmark
