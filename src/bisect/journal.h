#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "bisect/bisect_world.h"

namespace flopmark {

/// What results hold for: names for people and values, such as {"good commit", "0230d9..."}, {"build
/// command", "make"}, the config's key, the machine.
using JournalSubject = std::map<std::string, std::string>;

/// Builds and comparisons of a bisection as they come, so that one that was interrupted or killed goes on
/// where it was: JSON lines, each on disk before the bisection goes on. Judgements are not kept: they follow
/// from the pairs.
class Journal {
 public:
  Journal();  ///< on no file
  /// A new file, in place of any that is there. @throws Error 202 if it cannot be written, 200 if another
  /// bisection is writing it.
  static Journal begin(const std::filesystem::path& path, const JournalSubject& subject);
  /// Goes on with a file; a last line that was cut off is dropped. @throws Error 200 if there is none, it is
  /// of another subject (naming what differs) or another bisection is writing it; 202 naming file and line if
  /// it cannot be read.
  static Journal resume(const std::filesystem::path& path, const JournalSubject& subject);

  ~Journal();
  Journal(Journal&& other) noexcept;
  Journal& operator=(Journal&& other) noexcept;

  /// What is on record, or nullptr. An evidence has pairs and no judgement; it is that of a request with the
  /// same comparison, commits and attempt.
  const CommitBuild* build_of(const std::string& commit) const;
  const PairedEvidence* evidence_of(const ComparisonRequest& request) const;

  /// A failure that is not lasting is on no file. @throws Error 202 if it cannot be written.
  void add(const std::string& commit, const CommitBuild& build);
  void add(const ComparisonRequest& request, const PairedEvidence& evidence);

 private:
  class File;
  void read_line(const std::string& line);

  std::map<std::string, CommitBuild> builds_;
  std::map<std::string, PairedEvidence> evidence_;
  std::unique_ptr<File> file_;
};

}  // namespace flopmark
