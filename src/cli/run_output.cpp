#include "cli/run_output.h"

#include <fmt/format.h>

#include <system_error>

#include "cli/terminal.h"
#include "flopmark/error.h"
#include "report/shell_quoted.h"
#include "report/summary.h"
#include "results/record_file.h"

namespace flopmark {
namespace {

void print_failure(const RunRecord& record, const std::filesystem::path& path) {
  write_error(record.name + ": " + (record.failure ? failure_text(*record.failure) : "failed"));
  write_note("record: " + display_path(path));
}

std::optional<BaselineLine> baseline_on_file(const Store& store, const RunRecord& record) {
  const std::filesystem::path path = baseline_path(store, record);
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return std::nullopt;
  BaselineLine line;
  try {
    const RunRecord baseline = read_record(path);
    const auto found = baseline.metrics.values.find("samples_per_s");
    if (found != baseline.metrics.values.end()) line.samples_per_s = found->second;
    line.commit = baseline.subject.commit;
  } catch (const Error& error) {
    // The run itself is good: a damaged file is told of, and stops nothing.
    line.problem = error.what();
  }
  return line;
}

}  // namespace

void print_and_write(const std::function<void()>& print, const std::function<void()>& write) {
  try {
    print();
  } catch (...) {
    try {
      write();
    } catch (const std::exception& error) {
      write_error(error.what());
    }
    throw;
  }
  write();
}

void check_record_path(const std::filesystem::path& path, bool force) {
  std::error_code ignored;
  if (path.empty() || !std::filesystem::exists(path, ignored)) return;
  if (std::filesystem::is_directory(path, ignored)) {
    throw usage_error(path.string() + " is a folder: --output names the file of the record");
  }
  if (!std::filesystem::is_regular_file(path, ignored)) {
    throw usage_error(path.string() + " is not a regular file: --output names the file of the record");
  }
  if (!force)
    throw usage_error(path.string() + " exists: --force overwrites it, or give --output another name");
}

void write_record(const RunRecord& record, const std::filesystem::path& path, bool force) {
  check_record_path(path, force);
  write_file_atomically(path, format_record(to_json(record), false));
}

void print_result(const RunRecord& record, const std::filesystem::path& path, const ResultContext& context) {
  if (record.status == "failed") return print_failure(record, path);
  SummaryContext summary;
  summary.record_path = display_path(path);
  summary.mention_baseline = context.mention_baseline && record.status == "ok";
  if (summary.mention_baseline) summary.baseline = baseline_on_file(context.store, record);
  try {
    write_output(summarize(record, summary));
  } catch (const OutputError& error) {
    throw OutputError(fmt::format("{}. The run's record is written: see it with\n  flopmark baseline show {}",
                                  error.what(), shell_quoted(summary.record_path)));
  }
}

void print_unwritten(const RunRecord& record) noexcept {
  try {
    write_output(summarize(record, {}));
  } catch (const std::exception&) {  // the record's own error is the one to tell
  }
}

}  // namespace flopmark
