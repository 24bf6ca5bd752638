#pragma once

#include <exception>
#include <functional>
#include <string>

namespace flopmark {

/// While it lives, a thread of LibTorch's that ends the process because another rank was lost (NCCL's
/// watchdog, whose exception nobody can catch) calls `report` with what it says, and the process leaves with
/// exit code 125; without it that would be this rank's own crash. All else that ends the process does so as
/// before. One at a time.
class LostCollectives {
 public:
  explicit LostCollectives(std::function<void(const std::exception&)> report);
  ~LostCollectives();
  LostCollectives(const LostCollectives&) = delete;
  LostCollectives& operator=(const LostCollectives&) = delete;
};

}  // namespace flopmark
