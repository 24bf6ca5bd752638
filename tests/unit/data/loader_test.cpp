#include "data/loader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/types.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <future>
#include <stdexcept>
#include <thread>

#include "flopmark/error.h"

namespace flopmark {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;

/// Samples are their own indices. Batches can be held back, fail, or take time.
class FakeDataset : public Dataset {
 public:
  explicit FakeDataset(int64_t size) : size_(size) {}

  int64_t size() const override { return size_; }
  Batch collate(const std::vector<size_t>& indices) const override {
    ++begun;
    wait_for_opening();
    std::this_thread::sleep_for(sleep);
    if (static_cast<int64_t>(indices.at(0)) == poisoned) throw std::runtime_error("poisoned");
    Batch batch;
    batch.inputs.push_back(torch::empty({static_cast<int64_t>(indices.size())}, torch::kInt64));
    std::copy(indices.begin(), indices.end(), batch.inputs[0].mutable_data_ptr<int64_t>());
    batch.samples = static_cast<int64_t>(indices.size());
    ++made;
    return batch;
  }
  void close() {
    const std::lock_guard lock(mutex_);
    open_ = false;
  }
  void open() {
    {
      const std::lock_guard lock(mutex_);
      open_ = true;
    }
    opened_.notify_all();
  }

  int64_t poisoned = -1;
  std::chrono::milliseconds sleep{0};
  mutable std::atomic<int64_t> begun{0}, made{0};

 private:
  void wait_for_opening() const {
    std::unique_lock lock(mutex_);
    opened_.wait(lock, [this] { return open_; });
  }

  int64_t size_;
  mutable std::mutex mutex_;
  mutable std::condition_variable opened_;
  bool open_ = true;
};

/// Waits for what other threads will bring about; a minute only ends a test that has failed.
template <typename Condition>
bool comes_true(Condition condition) {
  const auto deadline = std::chrono::steady_clock::now() + 60s;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::yield();
  }
  return true;
}

std::vector<int64_t> values(const Batch& batch) {
  const int64_t* data = batch.inputs.at(0).const_data_ptr<int64_t>();
  return {data, data + batch.samples};
}

std::vector<std::vector<int64_t>> take(Loader& loader, int count) {
  std::vector<std::vector<int64_t>> batches;
  for (int i = 0; i < count; ++i) batches.push_back(values(loader.next()));
  return batches;
}

TEST(Loader, TheOrderDoesNotDependOnWorkersOrPrefetch) {
  const auto dataset = std::make_shared<FakeDataset>(37);
  Loader plain(dataset, {.batch_size = 4, .workers = 0, .drop_last = false, .seed = 5});
  const auto expected = take(plain, 35);  // three epochs and a half
  for (const int64_t workers : {1, 2, 7}) {
    for (const int64_t prefetch : {1, 3, 16}) {
      Loader loader(
          dataset,
          {.batch_size = 4, .workers = workers, .prefetch = prefetch, .drop_last = false, .seed = 5});
      EXPECT_EQ(take(loader, 35), expected) << workers << " workers, prefetch " << prefetch;
    }
  }
}

TEST(Loader, CountsAPartialLastBatchAsItIs) {
  Loader loader(std::make_shared<FakeDataset>(5),
                {.batch_size = 2, .workers = 2, .drop_last = false, .shuffle = false});
  EXPECT_THAT(take(loader, 4),
              ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3), ElementsAre(4), ElementsAre(0, 1)));
}

TEST(Loader, MakesNoMoreThanPrefetchAhead) {
  const auto dataset = std::make_shared<FakeDataset>(100);
  Loader loader(dataset, {.batch_size = 1, .workers = 3, .prefetch = 4});
  ASSERT_TRUE(comes_true([&] { return loader.queue_depth() == 4; }));
  loader.pause();
  EXPECT_EQ(dataset->begun, 4);
  loader.resume();
  loader.next();
  ASSERT_TRUE(comes_true([&] { return loader.queue_depth() == 4; }));
  loader.pause();
  EXPECT_EQ(dataset->begun, 5);
}

TEST(Loader, RethrowsAtItsTurnAndGoesOn) {
  for (const int64_t workers : {0, 3}) {
    const auto dataset = std::make_shared<FakeDataset>(10);
    dataset->poisoned = 4;
    Loader loader(dataset, {.batch_size = 2, .workers = workers, .shuffle = false});
    EXPECT_THAT(take(loader, 2), ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3)));
    EXPECT_THROW(loader.next(), std::runtime_error) << workers << " workers";
    EXPECT_THAT(take(loader, 1), ElementsAre(ElementsAre(6, 7)));
  }
}

TEST(Loader, PauseWaitsForTheBatchesInHand) {
  const auto dataset = std::make_shared<FakeDataset>(100);
  dataset->close();
  Loader loader(dataset, {.batch_size = 1, .workers = 2, .prefetch = 8, .shuffle = false});
  ASSERT_TRUE(comes_true([&] { return dataset->begun == 2; }));
  std::atomic<bool> returned{false};
  std::future<void> pausing = std::async(std::launch::async, [&] {
    loader.pause();
    returned = true;
  });
  EXPECT_FALSE(returned);
  dataset->open();
  pausing.get();
  // A worker may have begun a batch more before pause() came; whatever was begun is finished.
  const int64_t made = dataset->made;
  EXPECT_EQ(dataset->begun, made);
  EXPECT_GE(made, 2);
  const auto batches = take(loader, static_cast<int>(made));
  for (int64_t i = 0; i < made; ++i) EXPECT_THAT(batches[static_cast<size_t>(i)], ElementsAre(i));
  EXPECT_EQ(dataset->begun, made) << "a paused consumer gets them at once";
}

/// As long as its making went on while paused, a batch takes after resume(); else a consumer that pauses
/// after each batch would never wait for a slow dataset.
TEST(Loader, APauseMakesASlowDatasetNoFaster) {
  for (const int64_t workers : {1, 2}) {
    const auto dataset = std::make_shared<FakeDataset>(1000);
    dataset->sleep = 20ms;
    Loader loader(dataset, {.batch_size = 1, .workers = workers, .prefetch = 4, .shuffle = false});
    loader.next();
    double consuming_s = 0;
    constexpr int kBatches = 24;
    for (int i = 1; i <= kBatches; ++i) {
      loader.pause();
      const int64_t depth = loader.queue_depth();
      std::this_thread::sleep_for(5ms);  // the other one's turn
      EXPECT_EQ(loader.queue_depth(), depth) << "it grew while paused";
      const auto begin = std::chrono::steady_clock::now();
      loader.resume();
      EXPECT_THAT(values(loader.next()), ElementsAre(i));
      consuming_s += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    }
    EXPECT_GE(consuming_s, 0.020 * (kBatches - 2 * workers) / static_cast<double>(workers)) << workers;
  }
}

TEST(Loader, PausedHandsOutWhatIsReadyAndThenMakesBatchesItself) {
  const auto dataset = std::make_shared<FakeDataset>(100);
  Loader loader(dataset, {.batch_size = 1, .workers = 2, .prefetch = 3, .shuffle = false});
  ASSERT_TRUE(comes_true([&] { return loader.queue_depth() == 3; }));
  loader.pause();
  EXPECT_THAT(take(loader, 3), ElementsAre(ElementsAre(0), ElementsAre(1), ElementsAre(2)));
  EXPECT_EQ(dataset->begun, 3);
  EXPECT_EQ(loader.queue_depth(), 0);
  EXPECT_THAT(take(loader, 2), ElementsAre(ElementsAre(3), ElementsAre(4)));
  loader.resume();
  EXPECT_THAT(take(loader, 2), ElementsAre(ElementsAre(5), ElementsAre(6)));
  ASSERT_TRUE(comes_true([&] { return loader.queue_depth() == 3; }));
}

TEST(Loader, PauseAndResumeAtAnyTimeLoseNothing) {
  const auto dataset = std::make_shared<FakeDataset>(64);
  const LoaderOptions options{.batch_size = 2, .workers = 3, .prefetch = 4, .seed = 9};
  Loader plain(dataset, {.batch_size = 2, .workers = 0, .seed = 9});
  Loader loader(dataset, options);
  std::atomic<bool> done{false};
  std::future<void> switching = std::async(std::launch::async, [&] {
    while (!done) {
      loader.pause();
      loader.resume();
    }
  });
  const auto batches = take(loader, 2000);
  done = true;
  switching.get();
  EXPECT_EQ(batches, take(plain, 2000));
}

TEST(Loader, ReadyBatchesCostNoWait) {
  Loader loader(std::make_shared<FakeDataset>(100), {.batch_size = 1, .workers = 1, .prefetch = 3});
  ASSERT_TRUE(comes_true([&] { return loader.queue_depth() == 3; }));
  loader.pause();
  take(loader, 3);
  EXPECT_EQ(loader.wait_s(), 0);
}

TEST(Loader, MeasuresTheWaitForASlowDataset) {
  for (const int64_t workers : {0, 1}) {
    const auto dataset = std::make_shared<FakeDataset>(100);
    dataset->sleep = 20ms;
    Loader loader(dataset, {.batch_size = 1, .workers = workers, .prefetch = 1});
    loader.pause();  // so that the batch made in next() is a whole one
    const auto begin = std::chrono::steady_clock::now();
    take(loader, 3);
    const double elapsed_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    EXPECT_GE(loader.wait_s(), 0.040) << workers << " workers";  // with a worker the first may be ready
    EXPECT_LE(loader.wait_s(), elapsed_s);
    loader.reset_wait();
    EXPECT_EQ(loader.wait_s(), 0);
  }
}

TEST(Loader, MeasuresTheWaitForAWorker) {
  const auto dataset = std::make_shared<FakeDataset>(100);
  dataset->sleep = 20ms;
  Loader loader(dataset, {.batch_size = 1, .workers = 1, .prefetch = 1});
  const auto begin = std::chrono::steady_clock::now();
  take(loader, 5);
  const double elapsed_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  EXPECT_GT(loader.wait_s(), 0);
  EXPECT_LE(loader.wait_s(), elapsed_s);
}

TEST(Loader, EndsWhereverItsWorkersAre) {
  for (const bool paused : {false, true}) {
    const auto dataset = std::make_shared<FakeDataset>(100);
    Loader full(dataset, {.batch_size = 1, .workers = 3, .prefetch = 2});
    ASSERT_TRUE(comes_true([&] { return full.queue_depth() == 2; }));
    if (paused) full.pause();
  }
  for (const bool resumed : {false, true}) {
    const auto slow = std::make_shared<FakeDataset>(100);
    slow->sleep = 50ms;
    Loader holding(slow, {.batch_size = 1, .workers = 2});
    ASSERT_TRUE(comes_true([&] { return slow->begun == 2; }));
    holding.pause();
    if (resumed) holding.resume();
  }
  const auto dataset = std::make_shared<FakeDataset>(100);
  dataset->poisoned = 0;
  { Loader failing(dataset, {.batch_size = 1, .workers = 2, .shuffle = false}); }
  dataset->close();
  std::future<void> ending;
  {
    auto busy = std::make_unique<Loader>(dataset, LoaderOptions{.batch_size = 1, .workers = 2});
    ASSERT_TRUE(comes_true([&] { return dataset->begun >= 2; }));
    ending = std::async(std::launch::async, [loader = std::move(busy)]() mutable { loader.reset(); });
  }
  dataset->open();
  ending.get();
}

TEST(Loader, RefusesLessThanABatchWithBothNumbers) {
  const auto dataset = std::make_shared<FakeDataset>(3);
  try {
    Loader loader(dataset, {.batch_size = 4});
    FAIL() << "3 samples made a batch of 4";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    EXPECT_THAT(error.what(), HasSubstr("holds 3 samples, fewer than the 4 of one batch"));
  }
  Loader partial(dataset, {.batch_size = 4, .workers = 1, .drop_last = false});
  EXPECT_EQ(partial.next().samples, 3);
}

TEST(Loader, RefusesLessThanABatchForEachRank) {
  const auto dataset = std::make_shared<FakeDataset>(10);
  try {
    Loader loader(dataset, {.batch_size = 3, .rank = 1, .ranks = 4});
    FAIL() << "10 samples made a batch of 3 on each of 4 ranks";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    EXPECT_THAT(error.what(),
                HasSubstr("holds 10 samples, fewer than the 12 of one batch on each of 4 ranks"));
  }
}

TEST(Loader, RefusesImpossibleOptions) {
  const auto dataset = std::make_shared<FakeDataset>(3);
  EXPECT_THROW(Loader(nullptr, {}), std::invalid_argument);
  EXPECT_THROW(Loader(dataset, {.batch_size = 0}), std::invalid_argument);
  EXPECT_THROW(Loader(dataset, {.workers = -1}), std::invalid_argument);
  EXPECT_THROW(Loader(dataset, {.prefetch = 0}), std::invalid_argument);
}

}  // namespace
}  // namespace flopmark
