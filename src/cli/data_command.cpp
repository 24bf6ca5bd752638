#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/commands.h"
#include "cli/terminal.h"
#include "data/inspection.h"
#include "data/token_writer.h"
#include "launch/launch.h"
#include "report/inspection_report.h"
#include "report/shell_quoted.h"
#include "report/units.h"

namespace flopmark {
namespace {

struct InspectOptions {
  std::string path;
  std::string format = "text";
  std::filesystem::path worker;
};

struct TokenizeOptions {
  std::string text;
  std::filesystem::path output;
  TokenWriteOptions write;
};

ExitCode run_inspect(const InspectOptions& options) {
  Inspection inspection = inspect_data(options.path);
  if (inspection.needs_unpickling) {
    const TensorAnswer answer = ask_worker_tensors(find_worker(options.worker), options.path);
    if (answer.refusal.empty()) {
      add_tensors(inspection, answer.tensors);
    } else {
      refuse_tensors(inspection, answer.refusal);
    }
  }
  if (options.format == "text") {
    write_output(inspection_text(inspection));
  } else {
    // A path may hold any bytes; what is not UTF-8 is replaced.
    write_output(inspection_json(inspection).dump(2, ' ', false, nlohmann::json::error_handler_t::replace) +
                 "\n");
  }
  return ExitCode::ok;
}

ExitCode run_tokenize(const TokenizeOptions& options) {
  const int64_t count = write_byte_tokens(options.text, options.output, options.write);
  write_output(fmt::format("{}: {}, one per byte, format {}\nits config lines: flopmark data inspect {}\n",
                           display_path(options.output), format_counted(count, "id"), options.write.format,
                           shell_quoted(display_path(options.output))));
  return ExitCode::ok;
}

void setup_inspect(CLI::App& app, Invocation& invocation) {
  const auto options = std::make_shared<InspectOptions>();
  CLI::App* command = app.add_subcommand("inspect", "Say what a file or folder is and how to train on it");
  command->add_option("PATH", options->path, "A data file, or a folder of pictures")
      ->type_name("FILE|DIR")
      ->required();
  command->add_option("--format", options->format, "Form of the answer")
      ->check(CLI::IsMember({"text", "json"}));
  command->add_option("--worker", options->worker, "The flopmark-worker that opens .pt files")
      ->type_name("FILE");
  command->footer(
      "Told by content: token files, text, .npy arrays, tensors of torch.save, CIFAR-10 (by its usual\n"
      "names, or labels and length), folders of JPEG and PNG pictures; and what is no data: models,\n"
      "pickles. Pictures that are none or cut short are listed.\n"
      "\n"
      "Example:\n  flopmark data inspect corpus.bin --format json");
  command->callback(
      [options, &invocation] { invocation.action = [options] { return run_inspect(*options); }; });
}

void setup_tokenize(CLI::App& app, Invocation& invocation) {
  const auto options = std::make_shared<TokenizeOptions>();
  CLI::App* command = app.add_subcommand("tokenize", "Make a token file from text, one id per byte");
  command->add_option("TEXT", options->text, "Any file; its bytes are the ids")
      ->type_name("FILE")
      ->required();
  command->add_option("--output", options->output, "The token file")->type_name("FILE")->required();
  command->add_option("--format", options->write.format, "llmc has a header, raw-uint16 has none")
      ->check(CLI::IsMember({"llmc", "raw-uint16"}));
  command->add_flag("--force", options->write.force, "Overwrite the token file");
  command->footer("Example:\n  flopmark data tokenize README.md --output corpus.bin");
  command->callback(
      [options, &invocation] { invocation.action = [options] { return run_tokenize(*options); }; });
}

}  // namespace

void setup_data(CLI::App& app, Invocation& invocation) {
  CLI::App* command = app.add_subcommand("data", "Say what a data file is; make one from text");
  command->footer("Example:\n  flopmark data inspect corpus.bin");
  setup_inspect(*command, invocation);
  setup_tokenize(*command, invocation);
}

}  // namespace flopmark
