#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "flopmark/model_shape.h"

namespace CLI {
class App;
}

namespace flopmark {

/// A flag named like a key of the config's model, and where its value goes.
struct SizeFlag {
  const char* flag;  ///< "--layers"
  const char* key;   ///< "model.layers": its range is the key's
  int64_t ModelShape::*field;
  const char* help;
  std::optional<int64_t> value{};
};

/// The command line of `flopmark mfu`.
struct MfuOptions {
  std::string format = "table";  ///< table, json, markdown

  std::string config;
  std::vector<std::string> sets;  ///< key=value, of the config
  std::string preset, type;
  std::vector<SizeFlag> sizes;
  bool tied_embeddings = false, untied_embeddings = false;  ///< neither: the preset's, else untied
  std::optional<int64_t> head_size, sequence_length;
  std::optional<double> parameters;
  std::string checkpointing = "none";

  std::string device, precision;
  std::optional<double> peak_flop_per_s;
  int64_t devices = 1;

  std::optional<double> tokens_per_s_per_device, tokens_per_s, samples_per_s, step_s;
  std::optional<int64_t> global_batch;

  std::optional<double> model_flop_per_s, hardware_flop_per_s;

  std::string from;  ///< a file of many
};

/// Headings of the help; which of them may be used together is decided by what is asked for.
inline constexpr const char* kModelFlags = "Model";
inline constexpr const char* kHardwareFlags = "Hardware";
inline constexpr const char* kThroughputFlags = "Throughput, one of";
inline constexpr const char* kRateFlags = "Known FLOP/s of one device, in place of model and throughput";
inline constexpr const char* kFileFlags = "Many runs";

/// Adds the options to `command`; they go into `options`, which must outlive the parsing.
void add_mfu_options(CLI::App& command, MfuOptions& options);

/// @throws Error 200 if an option outside of the named headings was given, naming it and `because`.
void refuse_other_options(const CLI::App& command, const std::set<std::string>& headings,
                          const std::string& because);

/// Rates, peaks and times must lie between: beyond, no product of a few stays a number.
inline constexpr double kLeastInput = 1e-24;
inline constexpr double kLargestInput = 1e24;

/// `value`, which `flag` gave. @throws Error 200 unless it is a number from kLeastInput to kLargestInput.
double positive_number(const char* flag, double value);

/// @throws Error 200 unless `value` is at least 1 and at most 2^31 - 1.
int64_t positive_count(const char* flag, int64_t value);

}  // namespace flopmark
