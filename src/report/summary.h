#pragma once

#include <optional>
#include <string>

#include "flopmark/record.h"

namespace flopmark {

/// The baseline of this hardware and config, as the summary mentions it. It is no verdict.
struct BaselineLine {
  std::optional<double> samples_per_s;
  std::optional<std::string> commit;
  std::optional<std::string> problem;  ///< why the file cannot be read
};

/// What stands around a record when it is summed up. Empty parts are left out.
struct SummaryContext {
  std::string record_path;  ///< as to be shown
  bool mention_baseline = false;
  std::optional<BaselineLine> baseline;  ///< none on file: the line says how to save one
};

/// What failed and where, safe for a terminal; the last output of a worker follows on further lines.
std::string failure_text(const Failure& failure);

/// A run on one screen, at most 100 columns (only a path may be longer): device, model, table of numbers, top
/// operators, conventions, warnings, baseline on file, path of the record; a record that is not ok has its
/// mark on the last line.
std::string summarize(const RunRecord& record, const SummaryContext& context);

}  // namespace flopmark
