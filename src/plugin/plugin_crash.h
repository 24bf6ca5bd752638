#pragma once

#include <string>

namespace flopmark {

/// While one lives, this thread is in a call of a plug-in. A crash then writes one line to standard error,
/// with which the launch's failure ends: which call of which file it was. What else is done about crashes is
/// done after that. Costs two stores to memory of the thread.
class CrashNote {
 public:
  /// `line`, with its newline, outlives this.
  explicit CrashNote(const std::string& line);
  ~CrashNote();
  CrashNote(const CrashNote&) = delete;
  CrashNote& operator=(const CrashNote&) = delete;

 private:
  const std::string* before_;
};

}  // namespace flopmark
