#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>

#include "launch/control_line.h"
#include "measure/step_loop.h"

namespace flopmark {

/// What the front-end has said that nobody has obeyed yet.
class Orders {
 public:
  void give(const ControlLine& order);
  /// The next order; blocked, without using the CPU, until there is one.
  ControlLine wait();

 private:
  std::mutex mutex_;
  std::condition_variable given_;
  std::deque<ControlLine> orders_;
};

/// Watches standard input, the control pipe: "stop" sets state.stop and is an order too, as everything else
/// in control_line.h is; the pipe's end means that the front-end is gone, and this process ends at once. Also
/// asks the kernel for SIGKILL when the parent dies. `state` and `orders` must live as long as the process.
void follow_front_end(LoopState& state, Orders& orders);

}  // namespace flopmark
