#pragma once

#include <filesystem>

#include "bisect/journal.h"
#include "cli/bisect_options.h"
#include "results/commit_range.h"
#include "results/record_file.h"

namespace flopmark {

/// What a bisection is about, as the command line and the repository have it at the start.
struct BisectSubject {
  std::filesystem::path top;       ///< of the work tree
  std::filesystem::path artifact;  ///< relative to it
  CommitRange range;
  RecordInputs inputs;  ///< config and host: the same for every commit
};

/// `scratch`: a folder of this run's own.
/// @throws Error 200 for a config that is wrong or has a second pass (measure.loader), no work tree (none,
/// bare, owned by somebody else), and what find_range refuses.
BisectSubject find_subject(const BisectOptions& options, const std::filesystem::path& scratch);

/// The journal of this very bisection (ends, build, config, machine): a new one, or with --resume what is
/// there. Where there is none to resume, the last one of this tree and config says what differs.
/// @throws as Journal.
Journal open_journal(const BisectOptions& options, const BisectSubject& subject);

}  // namespace flopmark
