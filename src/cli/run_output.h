#pragma once

#include <filesystem>
#include <functional>

#include "flopmark/record.h"
#include "results/baseline_store.h"

namespace flopmark {

/// Both, although one of them throws: what took hours to measure goes where it can. @throws what the first to
/// throw threw.
void print_and_write(const std::function<void()>& print, const std::function<void()>& write);

/// @throws Error 200 if `path` (empty: a fresh name will be made) exists and `force` does not allow to
/// overwrite it, or if it is no regular file.
void check_record_path(const std::filesystem::path& path, bool force);

/// Writes the record whole. @throws Error 200 if the file has come into being meanwhile, 202 if it cannot be
/// written.
void write_record(const RunRecord& record, const std::filesystem::path& path, bool force);

struct ResultContext {
  Store store;
  bool mention_baseline = true;
};

/// The summary on standard output, with the baseline on file beside it; of a failed run one message on
/// standard error. @throws OutputError that says where the record is.
void print_result(const RunRecord& record, const std::filesystem::path& path, const ResultContext& context);

/// The summary of a record that could not be written, so that what was measured is not lost with it.
void print_unwritten(const RunRecord& record) noexcept;

}  // namespace flopmark
