#pragma once

#include <unistd.h>

#include <exception>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "train/rank_group.h"

namespace flopmark::test {

/// The ranks of a job as threads of this process: they meet in a file and are connected by Gloo, or not at
/// all. `body` gets each rank's group. Rethrows the first exception that a rank threw.
inline void run_ranks(int64_t ranks, const std::function<void(RankGroup&)>& body, double timeout_s = 20,
                      bool connected = true) {
  std::string folder = (std::filesystem::temp_directory_path() / "ranks-XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr) throw std::runtime_error("no temporary folder");
  std::vector<std::exception_ptr> errors(static_cast<size_t>(ranks));
  std::vector<std::thread> threads;
  for (int64_t rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&, rank] {
      try {
        RankPlace place;
        place.rank = place.local_rank = rank;
        place.ranks = place.local_ranks = ranks;
        place.meeting_file = folder + "/meeting";
        place.meeting = "test";
        RankGroup group({.place = place, .timeout_s = timeout_s});
        group.meet();
        if (connected) group.connect("gloo", torch::kCPU);
        body(group);
      } catch (...) {
        errors[static_cast<size_t>(rank)] = std::current_exception();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::filesystem::remove_all(folder);
  for (const std::exception_ptr& error : errors) {
    if (error) std::rethrow_exception(error);
  }
}

}  // namespace flopmark::test
