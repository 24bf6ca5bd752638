#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace flopmark {

/// What a block of steps processed and lost; filled after the clock has stopped.
struct BlockFacts {
  int64_t samples = 0, tokens = 0, images = 0;
  double data_wait_host_s = 0;  ///< the host blocked on the loader, total over the block
  std::vector<double> losses;   ///< one per step (mean of its micro-batches)
  /// Steps whose update was left out because a gradient overflowed; absent where losses are not scaled.
  std::optional<int64_t> skipped_steps = std::nullopt;
  /// Of a job of several ranks, per step: what nothing hid of the exchange between them, within backward (its
  /// last micro-batch) and within the update. Empty for one rank.
  std::vector<double> exchange_in_backward_s = {}, exchange_in_update_s = {};
};

/// One optimizer step, cut where phases are timed. The real one is in src/train, a fake in tests/fakes.
/// Called in this order: begin_block, then per step { per micro-batch { next_batch, transfer, forward,
/// backward }, update }, then end_block. Everything may run asynchronously on a device; only end_block waits
/// for it.
class TrainingStep {
 public:
  virtual ~TrainingStep() = default;
  /// Prepares for `steps` steps: whatever must be allocated is allocated here. Resets the facts.
  virtual void begin_block(int64_t steps) = 0;
  virtual void next_batch() = 0;  ///< waits for the loader
  virtual void transfer() = 0;    ///< host to device
  virtual void forward() = 0;
  virtual void backward() = 0;
  virtual void update() = 0;  ///< clipping, optimizer, gradients cleared
  /// Facts of the steps finished since begin_block. Called after the device was synchronized.
  /// @throws Error 125 if the model changed the batch that keep_batch made: its steps then trained on others.
  virtual BlockFacts end_block() = 0;
  /// From now on every next_batch gives the same whole batch, made here, and the loader stands still; nothing
  /// is copied or counted for that between begin_block and end_block. Not called within a block.
  virtual void keep_batch() = 0;
};

/// A monotonic clock. `now_ns` may be called from the timed region.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual int64_t now_ns() = 0;
};

/// Marks in the stream of work: host clock reads on a CPU, device events on a GPU.
class Marker {
 public:
  virtual ~Marker() = default;
  /// Makes room for marks [0, count). Not called in the timed region.
  virtual void reserve(size_t count) = 0;
  /// Places mark `index`; no allocation, no synchronization.
  virtual void mark(size_t index) = 0;
  /// Waits until all submitted work is done.
  virtual void synchronize() = 0;
  /// Seconds from mark `from` to mark `to`. After synchronize() only.
  virtual double elapsed_s(size_t from, size_t to) const = 0;
};

}  // namespace flopmark
