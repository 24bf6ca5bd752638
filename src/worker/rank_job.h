#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "config/rank_place.h"
#include "config/run_config.h"
#include "flopmark/record.h"
#include "measure/samples.h"
#include "measure/step_loop.h"
#include "train/rank_group.h"
#include "worker/job.h"

namespace flopmark {

/// This worker's part in a job of several ranks: meeting, agreement, and the last word.
class RankJob {
 public:
  /// Looks whether this host has a device for each of its ranks; meets nobody yet.
  /// @throws Error 200 if it has not, or the backend does not fit the device.
  RankJob(const RankPlace& place, const RunConfig& config);

  /// Meets the other ranks. @throws as RankGroup::meet.
  void meet() { group_.meet(); }
  /// The config with what is this rank's own: its device, its share of the CPUs. After meet().
  RunConfig config() const;
  const RankPlace& place() const { return place_; }
  RankGroup& group() { return group_; }
  /// Of CPU ranks one per host reads the ruler, while the others wait: they share its cores.
  bool reads_ruler() const;
  const std::string& backend() const { return backend_; }  ///< gloo, nccl

  /// Before the clock: compares with the other ranks what must be equal, connects with them, and takes rank
  /// 0's parameters. @throws Error 200 listing the differences, the same on all ranks; PeerLost.
  void agree(const Job& job);

  /// This rank's samples as the other ranks' lie beside them.
  RankSamples summary_of(const LaunchSamples& samples, const ExchangeTimes& times) const;
  /// Rank 0: collects the others' summaries and makes `samples` those of the job. Others: leave theirs.
  void join(LaunchSamples& samples, const RankSamples& own);

  /// `failure` for the record: whose it is, by its own or by another rank's word, where one rank's it is.
  /// Tells the others. `lost`:
  /// what failed lies with other ranks; then it waits up to two seconds for their word.
  Failure explained(Failure failure, const PeerLost* lost);
  /// Of this rank, which stands still `here`: what that is a part of, once another rank has failed or given
  /// up waiting, or their meeting is gone; absent while they have not. Its own fault it is only if all others
  /// have given up: else it may wait for one of them itself. Tells nobody. From any thread, after meet().
  /// Waits for seconds at most.
  std::optional<Failure> given_up(const Failure& here);
  /// Tells the others. From any thread, after meet().
  void note(const Failure& failure) noexcept;
  /// After a failure was reported: gives the others time to read it, where this rank holds the meeting.
  void linger() const;

 private:
  Failure lost_peer(const Failure& here, const PeerLost& lost);
  std::vector<int64_t> silent_ranks(const std::map<int64_t, RankGroup::Noted>& noted) const;
  Failure failure_of_peer(int64_t rank, Failure cause) const;
  void blame(Failure& failure, int64_t rank) const;
  void require_own_gpus(const std::string& uuid, const std::vector<std::string>& hosts);
  int64_t ranks_on_these_cpus() const;

  RankPlace place_;
  RunConfig config_;
  std::string backend_;
  RankGroup group_;
};

}  // namespace flopmark
