#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "config/rank_place.h"

namespace c10d {
class Store;
}

namespace flopmark {

/// Something failed for a reason that lies with other ranks or with the network between.
struct PeerLost : std::runtime_error {
  explicit PeerLost(const std::string& text, std::optional<int64_t> of_rank = std::nullopt)
      : std::runtime_error(text), rank(of_rank) {}
  std::optional<int64_t> rank;  ///< the one that is missing, where that is known
};

/// What the ranks of a job write for each other before there are collectives, and when those have failed: a
/// c10d store, with the keys of one meeting. No call takes longer than the time limit; after one that had no
/// answer in time all others fail at once.
class RankStore {
 public:
  /// Opens the file, or listens (rank 0 without an agent) and connects. Returns without waiting for others.
  /// @throws Error 200: the port is in use, or nobody who speaks the store's protocol answers there.
  RankStore(const RankPlace& place, double timeout_s);
  ~RankStore();
  RankStore(const RankStore&) = delete;
  RankStore& operator=(const RankStore&) = delete;

  /// The next five throw PeerLost where the store cannot be reached any more. `limit_s`: shorter than the
  /// group's time limit.
  void put(const std::string& key, const std::string& text, std::optional<double> limit_s = std::nullopt);
  /// Whether all of them are there.
  bool has(const std::vector<std::string>& keys, std::optional<double> limit_s = std::nullopt);
  /// The same from another thread, which changes nothing for this one's calls: absent where there was no
  /// answer in time, as while another call waits for a key.
  std::optional<bool> look(const std::vector<std::string>& keys, double limit_s);
  /// Of a key that is there.
  std::string get(const std::string& key, std::optional<double> limit_s = std::nullopt);
  /// Writes the text where nothing is yet. @returns what is there then.
  std::string claim(const std::string& key, const std::string& text);

  struct State;
  /// The c10d store itself, with the prefix of the meeting.
  const State& state() const { return *state_; }

 private:
  template <typename Call>
  bool answers(double patience_s, Call call);
  template <typename Call>
  void in_time(std::optional<double> limit_s, Call call);

  std::shared_ptr<State> state_;  ///< shared with calls that hang
  double timeout_s_;
  std::atomic<bool> dead_{false};
};

}  // namespace flopmark
