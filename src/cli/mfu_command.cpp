#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <stdexcept>

#include "cli/commands.h"
#include "cli/mfu_cases.h"
#include "cli/mfu_options.h"
#include "cli/mfu_subject.h"
#include "cli/terminal.h"
#include "report/mfu_report.h"

namespace flopmark {
namespace {

/// The same in each form: a table of `subject`, or its JSON.
template <typename Subject>
void print(const std::string& format, const Subject& subject,
           std::string (*table)(const Subject&, TableStyle),
           nlohmann::ordered_json (*document)(const Subject&)) {
  if (format == "json") return write_output(document(subject).dump(2) + "\n");
  write_output(table(subject, format == "markdown" ? TableStyle::markdown : TableStyle::text));
}

ExitCode run_mfu(const MfuOptions& options, const CLI::App& command) try {
  if (!options.from.empty()) {
    refuse_other_options(command, {kFileFlags}, "--from");
    print(options.format, read_mfu_cases(options.from), case_table, case_json);
  } else if (options.model_flop_per_s || options.hardware_flop_per_s) {
    refuse_other_options(command, {kRateFlags, kHardwareFlags}, "--model-flop-per-s");
    print(options.format, rate_subject(options), rate_table, rate_json);
  } else {
    print(options.format, mfu_subject(options), mfu_table, mfu_json);
  }
  return ExitCode::ok;
} catch (const std::overflow_error& error) {
  throw usage_error(fmt::format("this model is too large to count: {}; check its sizes", error.what()));
}

}  // namespace

void setup_mfu(CLI::App& app, Invocation& invocation) {
  const auto options = std::make_shared<MfuOptions>();
  CLI::App* command =
      app.add_subcommand("mfu", "Compute MFU and HFU from a model shape and a known throughput");
  add_mfu_options(*command, *options);
  command->footer(
      "Examples:\n"
      "  flopmark mfu --preset llama-3-8b --sequence-length 8192 --tokens-per-s-per-device 9000\n"
      "      --device \"NVIDIA H100 80GB HBM3\" --precision bf16 --checkpointing full\n"
      "  flopmark mfu configs/llama-1b-cuda.json --peak 989.4e12 --step-s 0.25\n"
      "  flopmark mfu --model-flop-per-s 100e12 --hardware-flop-per-s 130e12 --peak 312e12");
  command->callback([options, command, &invocation] {
    invocation.action = [options, command] { return run_mfu(*options, *command); };
  });
}

}  // namespace flopmark
