#pragma once

#include <cstdint>
#include <memory>

#include "flopmark/dataset.h"

namespace flopmark {

struct LoaderOptions {
  int64_t batch_size = 1;
  int64_t workers = 2;      ///< 0: batches are made in next()
  int64_t prefetch = 4;     ///< batches ready or being made at most
  bool pin_memory = false;  ///< page-locked batches, where there is a GPU
  bool drop_last = true;
  bool shuffle = true;
  int64_t seed = 0;
  int64_t rank = 0, ranks = 1;  ///< of a job of several: whose share of the samples (see SampleOrder)
};

/// Endless batches, epoch after epoch, in an order that depends on the seed only, not on workers.
/// Thread-safe towards its own workers; one consumer.
class Loader {
 public:
  /// Starts the workers. @throws Error 200: less than one batch of samples for each rank under drop_last.
  Loader(std::shared_ptr<const Dataset> dataset, const LoaderOptions& options);
  /// Waits for the batches in hand.
  ~Loader();
  Loader(const Loader&) = delete;
  Loader& operator=(const Loader&) = delete;

  /// The next batch; blocks until it is ready. Rethrows what a worker threw, once its turn comes.
  Batch next();
  /// Workers finish the batch in hand and then wait; returns when they wait. To the consumer it is as if they
  /// had stood still: a batch finished while paused becomes ready only after resume(), when as much time has
  /// passed as it still took, and its worker begins no other before. next() while paused hands out what is
  /// ready or finished, and beyond that makes each batch itself.
  void pause();
  void resume();
  int64_t workers() const;
  /// Samples of a batch that is not the short one of an epoch.
  int64_t batch_size() const;
  /// Batches ready now; 0 without workers.
  int64_t queue_depth() const;
  /// Seconds next() has been blocked, or busy making a batch itself, since construction or the last reset.
  double wait_s() const;
  void reset_wait();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace flopmark
