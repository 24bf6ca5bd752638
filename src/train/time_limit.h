#pragma once

#include <chrono>
#include <future>
#include <memory>
#include <thread>
#include <utility>

namespace flopmark {

/// Runs `work` in a thread of its own and waits at most `limit_s` for it. A work that hangs is left behind,
/// so it must own what it uses. Rethrows what `work` throws. @returns whether it ended in time.
template <typename Work>
bool ends_within(double limit_s, Work work) {
  const auto task = std::make_shared<std::packaged_task<void()>>(std::move(work));
  std::future<void> done = task->get_future();
  std::thread([task] { (*task)(); }).detach();
  if (done.wait_for(std::chrono::duration<double>(limit_s)) != std::future_status::ready) return false;
  done.get();
  return true;
}

}  // namespace flopmark
