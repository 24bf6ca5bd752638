#pragma once

#include <string>

namespace flopmark {

/// What is said of a call of a plug-in that does not return.
struct CallTexts {
  std::string crash_line;  ///< of a crash in it; with its newline
  std::string exit_text;   ///< of an exit() in it
};

/// While one lives, this thread is in a call of a plug-in. A crash then writes its line to standard error,
/// with which the launch's failure ends: which call of which file it was. What else is done about crashes is
/// done after that. Costs two stores to memory of the thread.
class CrashNote {
 public:
  /// `texts` outlive this.
  explicit CrashNote(const CallTexts& texts);
  ~CrashNote();
  CrashNote(const CrashNote&) = delete;
  CrashNote& operator=(const CrashNote&) = delete;

 private:
  const CallTexts* before_;
};

/// The exit_text of the call that this thread is in; empty outside of one.
std::string exit_of_call();

}  // namespace flopmark
