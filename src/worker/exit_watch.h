#pragma once

#include "worker/channel.h"

namespace flopmark {

/// While one lives, a call of exit() is a fault of the model, the data or a library: it is reported, with the
/// phase, the step and, where a plug-in called it, its file and function, and the process ends with
/// kWorkerSentFailure. One at a time.
class ExitWatch {
 public:
  ExitWatch(Channel& channel, const LoopState& state);
  ~ExitWatch();
  ExitWatch(const ExitWatch&) = delete;
  ExitWatch& operator=(const ExitWatch&) = delete;
};

}  // namespace flopmark
