#include "train/torch_step.h"

#include <ATen/ops/full.h>
#include <ATen/ops/stack.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "models/autocast.h"
#include "train/optimizer.h"

namespace flopmark {
struct TorchStep::State {
  /// What was processed, without losses and waits.
  struct Counts {
    int64_t samples = 0, tokens = 0, images = 0;

    void add(const Counts& more) {
      samples += more.samples;
      tokens += more.tokens;
      images += more.images;
    }
  };

  State(std::unique_ptr<TrainableModel> the_model, std::unique_ptr<Loader> the_loader,
        const StepOptions& options)
      : model(std::move(the_model)),
        loader(std::move(the_loader)),
        device(options.device),
        autocast(autocast_options(options.train.precision, options.device.type())),
        micro_batches(options.train.gradient_accumulation),
        clip_norm(options.train.gradient_clip),
        channels_last(options.train.channels_last),
        counting(options.counting),
        optimizer(make_optimizer(options.train.optimizer, model->parameters())),
        share(at::full({}, 1.0 / static_cast<double>(micro_batches),
                       torch::TensorOptions(device).dtype(torch::kFloat))) {
    if (scales_loss(options.train.precision)) scaler.emplace(device, options.loss_scaling);
  }

  std::unique_ptr<TrainableModel> model;
  std::unique_ptr<Loader> loader;
  torch::Device device;
  AutocastOptions autocast;
  int64_t micro_batches;
  std::optional<double> clip_norm;
  bool channels_last;
  FlopObserver::Options counting;
  std::unique_ptr<Optimizer> optimizer;
  std::optional<LossScaler> scaler;
  torch::Tensor share;  ///< 1 / micro_batches: backward starts with it, so gradients are those of the mean

  Batch batch;
  std::optional<Batch> kept;  ///< on the host
  torch::Tensor loss;
  int64_t counted_samples = 0;

  // Of this block.
  std::vector<torch::Tensor> losses;  ///< per micro-batch; on the device until end_block
  size_t next_loss = 0;
  std::vector<torch::Tensor> overflows;  ///< per step, with a scaler; on the device until end_block
  bool pauses_between_blocks = false;
  int64_t finished_steps = 0;
  Counts finished, present;  ///< of finished steps; of the step under way

  void start_over(int64_t steps);
  Batch next_whole_batch();
  std::vector<double> step_losses() const;
  std::optional<int64_t> skipped_steps() const;
};

/// Forgets everything of an earlier block, the gradients of an unfinished step too.
void TorchStep::State::start_over(int64_t steps) {
  optimizer->clear_gradients();
  loader->reset_wait();
  losses.clear();
  losses.resize(static_cast<size_t>(steps * micro_batches));
  next_loss = 0;
  overflows.clear();
  overflows.reserve(scaler ? static_cast<size_t>(steps) : 0);
  finished_steps = 0;
  finished = present = Counts{};
}

/// Skips the short batch that an epoch without drop_last ends with. Where the whole dataset is smaller than a
/// batch, all are short.
Batch TorchStep::State::next_whole_batch() {
  Batch next = loader->next();
  return next.samples < loader->batch_size() ? loader->next() : next;
}

/// Mean over the micro-batches of each finished step; one copy from the device.
std::vector<double> TorchStep::State::step_losses() const {
  if (finished_steps == 0) {
    return {};
  }
  const at::TensorList done(losses.data(), static_cast<size_t>(finished_steps * micro_batches));
  const auto means =
      at::stack(done).to(torch::kCPU, torch::kDouble).view({finished_steps, micro_batches}).mean(1);
  return {means.const_data_ptr<double>(), means.const_data_ptr<double>() + finished_steps};
}

/// Finished steps whose update was left out; one copy from the device. Nothing without a scaler.
std::optional<int64_t> TorchStep::State::skipped_steps() const {
  if (!scaler) return std::nullopt;
  return overflows.empty() ? 0 : at::stack(overflows).sum().to(torch::kLong).item<int64_t>();
}

TorchStep::TorchStep(std::unique_ptr<TrainableModel> model, std::unique_ptr<Loader> loader,
                     const StepOptions& options)
    : state_(std::make_unique<State>(std::move(model), std::move(loader), options)) {}

TorchStep::~TorchStep() = default;

void TorchStep::begin_block(int64_t steps) {
  state_->start_over(steps);
  if (state_->pauses_between_blocks && !state_->kept) state_->loader->resume();
}

void TorchStep::next_batch() {
  if (state_->kept) {
    state_->batch = *state_->kept;
  } else {
    state_->batch = state_->loader->next();
  }
}

void TorchStep::transfer() {
  for (auto& input : state_->batch.inputs) {
    const auto options = torch::TensorOptions(state_->device).dtype(input.scalar_type());
    const auto format = state_->channels_last && input.dim() == 4 ? at::MemoryFormat::ChannelsLast
                                                                  : at::MemoryFormat::Preserve;
    input = input.to(options, /*non_blocking=*/true, /*copy=*/false, format);
  }
}

void TorchStep::forward() {
  const AutocastGuard autocast(state_->autocast);
  state_->loss = state_->model->loss(state_->batch);
}

void TorchStep::backward() {
  auto& state = *state_;
  state.loss.backward(state.scaler ? state.scaler->scaled(state.share) : state.share);
  state.losses.at(state.next_loss++) = state.loss.detach();
  state.loss.reset();
  state.present.add({state.batch.samples, state.batch.tokens, state.batch.images});
}

void TorchStep::update() {
  auto& state = *state_;
  const auto overflow = state.optimizer->step(state.clip_norm, state.scaler ? &*state.scaler : nullptr);
  if (overflow.defined()) state.overflows.push_back(overflow);
  state.optimizer->clear_gradients();
  state.finished.add(std::exchange(state.present, {}));
  ++state.finished_steps;
}

BlockFacts TorchStep::end_block() {
  if (state_->pauses_between_blocks) state_->loader->pause();
  BlockFacts facts;
  facts.samples = state_->finished.samples;
  facts.tokens = state_->finished.tokens;
  facts.images = state_->finished.images;
  facts.data_wait_host_s = state_->loader->wait_s();
  facts.losses = state_->step_losses();
  facts.skipped_steps = state_->skipped_steps();
  return facts;
}

void TorchStep::keep_batch() {
  pause_between_blocks();
  state_->kept = state_->next_whole_batch();
}

FlopTotals TorchStep::count() {
  state_->kept.reset();
  begin_block(1);
  FlopObserver observer(state_->counting);
  for (int64_t i = 0; i < state_->micro_batches; ++i) {
    state_->batch = state_->next_whole_batch();
    transfer();
    observer.enter(FlopObserver::Part::forward);
    forward();
    observer.enter(FlopObserver::Part::backward);
    backward();
  }
  observer.enter(FlopObserver::Part::optimizer);
  update();
  state_->counted_samples = state_->finished.samples;
  return observer.totals();
}

int64_t TorchStep::counted_samples() const {
  return state_->counted_samples;
}

bool TorchStep::read_only_zeros() const {
  const auto& inputs = state_->batch.inputs;
  const size_t read = inputs.size() > 1 ? inputs.size() - 1 : inputs.size();
  return read > 0 && std::all_of(inputs.begin(), inputs.begin() + static_cast<std::ptrdiff_t>(read),
                                 [](const torch::Tensor& input) { return !input.any().item<bool>(); });
}

void TorchStep::pause_between_blocks() {
  state_->pauses_between_blocks = true;
  state_->loader->pause();
}

std::optional<int64_t> TorchStep::queue_depth() const {
  const Loader& loader = *state_->loader;
  return loader.workers() > 0 ? std::optional(loader.queue_depth()) : std::nullopt;
}

int64_t TorchStep::parameters() const {
  int64_t count = 0;
  for (const auto& parameter : state_->optimizer->parameters()) {
    count += parameter.numel();
  }
  return count;
}

}  // namespace flopmark
