#pragma once

#include <torch/types.h>

#include <chrono>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "config/rank_place.h"
#include "flopmark/record.h"
#include "train/rank_store.h"

namespace c10d {
class ProcessGroup;
}

namespace flopmark {

enum class Combine { sum, max, min };

/// The ranks of one job, seen from one of them: the meeting, what they tell each other, collectives, and what
/// is known of a rank that fails. Not for several threads at a time.
class RankGroup {
 public:
  struct Options {
    RankPlace place;
    double timeout_s = 60;  ///< of every meeting and collective
  };
  /// Where a rank runs.
  struct Host {
    std::string name;
    std::string cpus;  ///< those its process may use; empty: not known
  };

  explicit RankGroup(const Options& options);
  ~RankGroup();
  RankGroup(const RankGroup&) = delete;
  RankGroup& operator=(const RankGroup&) = delete;

  int64_t rank() const;
  int64_t ranks() const;
  double timeout_s() const;
  const Host& host(int64_t rank) const;
  /// By rank; of another than this one empty before they have met.
  std::vector<std::string> host_names() const;
  /// Absent where it is not known.
  std::optional<std::string> host_name(int64_t rank) const;

  /// Meets the others: first of all. @throws Error 200 as RankStore; PeerLost naming the ranks that did not
  /// come.
  void meet();
  /// Instead of meeting: tells those that come within `limit_s` that this rank does not, because of
  /// `failure`. Waits no longer than about that; where this rank holds the meeting, for so long. Never
  /// throws.
  void stay_away(const Failure& failure, double limit_s) noexcept;
  /// Every rank's value under `key`, by rank; each key once. @throws PeerLost where one fails or does not
  /// come.
  std::vector<nlohmann::json> gather(const std::string& key, const nlohmann::json& own);
  /// Leaves a value for rank 0, which collects them all with gather().
  void leave(const std::string& key, const nlohmann::json& own);

  /// Makes collectives possible, on `device`; `backend` is gloo or nccl. Collectives of all ranks must follow
  /// in the same order. Each waits until it is done (on a GPU: until the current stream will see its result).
  /// @throws PeerLost, as all of them do where a rank fails.
  void connect(const std::string& backend, const torch::Device& device);
  /// In place; `values` is contiguous and on the device.
  void all_reduce(torch::Tensor values, Combine combine);
  /// Rank 0's values, in place; any dense layout.
  void broadcast(const std::vector<torch::Tensor>& values);
  double combined(double value, Combine combine);  ///< waits for the device
  bool all_agree(bool own);                        ///< whether all say true; waits for the device
  void wait_for_all();                             ///< a barrier

  /// Writes down that this rank fails, for the others to read; never throws. `own`: by itself, not because of
  /// others.
  void note_failure(const Failure& failure, bool own) noexcept;
  struct Noted {
    Failure failure;
    bool own = false;
  };
  /// Whether another rank has noted a failure, or the meeting is gone; false while that cannot be told. From
  /// any thread, after meet(), whatever the others do.
  bool is_given_up() noexcept;
  /// What the others have noted within `limit_s`; ends early when there is a rank that failed by itself, or
  /// all have noted something. Never throws; `reachable` is whether the store still answers.
  std::map<int64_t, Noted> noted_failures(double limit_s, bool& reachable) noexcept;

  struct Links;  ///< c10d's process group (rank_links.h)
  Links& links() { return *links_; }

 private:
  struct State;
  std::vector<nlohmann::json> gather_until(std::chrono::steady_clock::time_point until,
                                           const std::string& key, const nlohmann::json& own);
  void require_nobody_failed();

  std::unique_ptr<State> state_;
  std::unique_ptr<Links> links_;
};

}  // namespace flopmark
