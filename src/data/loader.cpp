#include "data/loader.h"

#include <fmt/format.h>
#include <torch/cuda.h>

#include <chrono>
#include <condition_variable>
#include <cstring>
#include <exception>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "data/sample_order.h"
#include "flopmark/counted.h"
#include "flopmark/error.h"

namespace flopmark {
namespace {

/// Page-locked copy. A plain memcpy: Tensor::pin_memory() would start an intra-op thread pool in every loader
/// thread.
torch::Tensor pinned(const torch::Tensor& tensor) {
  if (tensor.is_pinned() || !tensor.device().is_cpu()) return tensor;
  const torch::Tensor source = tensor.contiguous();
  torch::Tensor copy = torch::empty(source.sizes(), source.options().pinned_memory(true));
  std::memcpy(copy.mutable_data_ptr(), source.const_data_ptr(), source.nbytes());
  return copy;
}

SampleOrderOptions order_options(const Dataset* dataset, const LoaderOptions& options) {
  if (!dataset) throw std::invalid_argument("a loader needs a dataset");
  if (options.batch_size < 1 || options.workers < 0 || options.prefetch < 1) {
    throw std::invalid_argument("a loader needs batch_size >= 1, workers >= 0 and prefetch >= 1");
  }
  const int64_t size = dataset->size();
  const int64_t needed = (options.drop_last ? options.batch_size : 1) * options.ranks;
  if (size < needed) {
    throw usage_error(fmt::format(
        "the dataset holds {}, fewer than the {} of one batch{}: lower data.batch_size{} or use more data",
        counted(size, "sample"), needed,
        options.ranks > 1 ? fmt::format(" on each of {} ranks", options.ranks) : "",
        options.ranks > 1 ? " or parallel.ranks" : ""));
  }
  return {size,         options.batch_size, options.drop_last, options.shuffle,
          options.seed, options.rank,       options.ranks};
}

}  // namespace

/// Batch k is made under ticket k by whoever claims it and waits in slot k % prefetch for its turn.
/// A ticket is claimed only when its slot is free, so at most `prefetch` batches are ready or in hand.
struct Loader::State {
  using Clock = std::chrono::steady_clock;
  using Time = Clock::time_point;

  struct Slot {
    Batch batch;
    std::exception_ptr error;
    bool ready = false;
  };

  State(std::shared_ptr<const Dataset> dataset_in, const LoaderOptions& options_in)
      : dataset(std::move(dataset_in)),
        options(options_in),
        order(order_options(dataset.get(), options)),
        pin(options.pin_memory && torch::cuda::is_available()),
        slots(static_cast<size_t>(options.prefetch)) {}
  ~State();
  void start();
  void work();
  Batch make(int64_t ticket, std::vector<size_t>& indices);
  void hold(std::unique_lock<std::mutex>& lock);
  void finish(int64_t ticket, Slot&& made);
  Batch next();
  Batch take(std::unique_lock<std::mutex>& lock);
  Batch make_here(std::unique_lock<std::mutex>& lock);
  bool must_make_here() const { return (options.workers == 0 || paused) && claimed == consumed; }
  Slot& slot_of(int64_t ticket) { return slots[static_cast<size_t>(ticket % options.prefetch)]; }

  const std::shared_ptr<const Dataset> dataset;
  const LoaderOptions options;
  SampleOrder order;
  const bool pin;
  std::vector<size_t> consumer_indices;  ///< consumer only

  mutable std::mutex mutex;  ///< guards all below except `threads`
  std::condition_variable room, ready, idle, thaw;
  std::vector<Slot> slots;
  int64_t claimed = 0;   ///< next ticket to make
  int64_t consumed = 0;  ///< next ticket to hand out
  int64_t in_hand = 0;   ///< tickets workers are busy with; not those they hold back
  int64_t depth = 0;     ///< slots that are ready
  bool paused = false;
  bool consumer_waits = false;
  bool stopping = false;
  Time paused_at, resumed_at;
  double wait_s = 0;
  std::vector<std::thread> threads;  ///< filled before the first next()
};

Loader::State::~State() {
  {
    const std::lock_guard lock(mutex);
    stopping = true;
  }
  room.notify_all();
  thaw.notify_all();
  for (std::thread& thread : threads) thread.join();
}

void Loader::State::start() {
  threads.reserve(static_cast<size_t>(options.workers));
  for (int64_t i = 0; i < options.workers; ++i) threads.emplace_back([this] { work(); });
}

void Loader::State::work() {
  std::vector<size_t> indices;
  std::unique_lock lock(mutex);
  while (true) {
    room.wait(lock, [this] { return stopping || (!paused && claimed < consumed + options.prefetch); });
    if (stopping) return;
    const int64_t ticket = claimed++;
    ++in_hand;
    lock.unlock();
    Slot made;
    try {
      made.batch = make(ticket, indices);
    } catch (...) {
      made.error = std::current_exception();
    }
    lock.lock();
    if (--in_hand == 0) idle.notify_all();
    if (paused) hold(lock);
    finish(ticket, std::move(made));
  }
}

/// Keeps back a batch finished while paused, for as long after resume() as its making went on after pause().
/// Else a consumer that takes turns with another process would find in each turn a batch that cost it
/// nothing, and would never wait for a loader that is too slow. A consumer that waits while paused gets it at
/// once.
void Loader::State::hold(std::unique_lock<std::mutex>& lock) {
  Clock::duration owed = Clock::now() - paused_at;
  while (owed > Clock::duration::zero()) {
    thaw.wait(lock, [this] { return stopping || !paused || consumer_waits; });
    if (stopping || paused) return;
    thaw.wait_until(lock, resumed_at + owed, [this] { return stopping || paused; });
    owed -= (paused ? paused_at : Clock::now()) - resumed_at;
  }
}

Batch Loader::State::make(int64_t ticket, std::vector<size_t>& indices) {
  order.indices_of(ticket, indices);
  Batch batch = dataset->collate(indices);
  if (pin) {
    for (torch::Tensor& input : batch.inputs) input = pinned(input);
  }
  return batch;
}

void Loader::State::finish(int64_t ticket, Slot&& made) {
  Slot& slot = slot_of(ticket);
  slot = std::move(made);
  slot.ready = true;
  ++depth;
  if (ticket == consumed) ready.notify_one();
}

Batch Loader::State::next() {
  std::unique_lock lock(mutex);
  if (slot_of(consumed).ready) return take(lock);
  const Time blocked = Clock::now();
  const auto add_wait = [&] { wait_s += std::chrono::duration<double>(Clock::now() - blocked).count(); };
  consumer_waits = true;
  if (paused) thaw.notify_all();
  ready.wait(lock, [this] { return slot_of(consumed).ready || must_make_here(); });
  consumer_waits = false;
  if (slot_of(consumed).ready) {
    add_wait();
    return take(lock);
  }
  try {
    Batch batch = make_here(lock);
    add_wait();
    return batch;
  } catch (...) {
    add_wait();
    throw;
  }
}

Batch Loader::State::take(std::unique_lock<std::mutex>& lock) {
  Slot& slot = slot_of(consumed);
  Batch batch = std::move(slot.batch);
  const std::exception_ptr error = std::exchange(slot.error, nullptr);
  slot.ready = false;
  --depth;
  ++consumed;
  lock.unlock();
  room.notify_one();
  if (error) std::rethrow_exception(error);
  return batch;
}

/// No worker will make the next batch (there are none, or they are paused): the consumer does. Returns with
/// the lock.
Batch Loader::State::make_here(std::unique_lock<std::mutex>& lock) {
  const int64_t ticket = claimed++;
  ++consumed;
  lock.unlock();
  struct Relock {
    std::unique_lock<std::mutex>& lock;
    ~Relock() { lock.lock(); }
  } relock{lock};
  return make(ticket, consumer_indices);
}

Loader::Loader(std::shared_ptr<const Dataset> dataset, const LoaderOptions& options)
    : state_(std::make_unique<State>(std::move(dataset), options)) {
  state_->start();
}

Loader::~Loader() = default;

Batch Loader::next() {
  return state_->next();
}

void Loader::pause() {
  std::unique_lock lock(state_->mutex);
  if (!state_->paused) state_->paused_at = State::Clock::now();
  state_->paused = true;
  state_->thaw.notify_all();
  state_->idle.wait(lock, [this] { return state_->in_hand == 0 || !state_->paused; });
  state_->ready.notify_one();  // a consumer that waits for a batch nobody has begun makes it itself
}

void Loader::resume() {
  {
    const std::lock_guard lock(state_->mutex);
    if (state_->paused) state_->resumed_at = State::Clock::now();
    state_->paused = false;
  }
  state_->thaw.notify_all();
  state_->room.notify_all();
  state_->idle.notify_all();
}

int64_t Loader::workers() const {
  return state_->options.workers;
}

int64_t Loader::batch_size() const {
  return state_->options.batch_size;
}

int64_t Loader::queue_depth() const {
  const std::lock_guard lock(state_->mutex);
  return state_->depth;
}

double Loader::wait_s() const {
  const std::lock_guard lock(state_->mutex);
  return state_->wait_s;
}

void Loader::reset_wait() {
  const std::lock_guard lock(state_->mutex);
  state_->wait_s = 0;
}

}  // namespace flopmark
