#include "train/torch_step.h"

#include <ATen/ops/full.h>
#include <ATen/ops/stack.h>
#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "flopmark/error.h"
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
        const StepOptions& options, std::unique_ptr<GradientExchange> the_exchange)
      : model(std::move(the_model)),
        loader(std::move(the_loader)),
        exchange(std::move(the_exchange)),
        parameters(model->parameters()),
        device(options.device),
        autocast(autocast_options(options.train.precision, options.device.type())),
        micro_batches(options.train.gradient_accumulation),
        clip_norm(options.train.gradient_clip),
        channels_last(options.train.channels_last),
        counting(options.counting),
        optimizer(make_optimizer(options.train.optimizer, exchange->updated(parameters))),
        share(at::full({}, exchange->share() / static_cast<double>(micro_batches),
                       torch::TensorOptions(device).dtype(torch::kFloat))) {
    optimizer->set_whole_square_sum(exchange->whole_square_sum());
    if (scales_loss(options.train.precision)) scaler.emplace(device, options.loss_scaling);
  }

  std::unique_ptr<TrainableModel> model;
  std::unique_ptr<Loader> loader;
  std::unique_ptr<GradientExchange> exchange;
  std::vector<torch::Tensor> parameters;  ///< of the model
  torch::Device device;
  AutocastOptions autocast;
  int64_t micro_batches;
  std::optional<double> clip_norm;
  bool channels_last;
  FlopObserver::Options counting;
  std::unique_ptr<Optimizer> optimizer;
  std::optional<LossScaler> scaler;
  torch::Tensor share;  ///< 1 / (micro_batches x ranks): backward starts with it, so gradients are those of
                        ///< the mean

  Batch batch;
  std::optional<Batch> kept;            ///< on the host
  std::vector<uint32_t> kept_versions;  ///< of its tensors, before any step on them
  torch::Tensor loss;
  int64_t counted_samples = 0;

  // Of this block.
  std::vector<torch::Tensor> losses;  ///< per micro-batch; on the device until end_block
  size_t next_loss = 0;
  std::vector<torch::Tensor> overflows;  ///< per step, with a scaler; on the device until end_block
  bool pauses_between_blocks = false;
  int64_t finished_steps = 0;
  int64_t micro_batch = 0;   ///< of the step under way: those whose backward is done
  Counts finished, present;  ///< of finished steps; of the step under way

  bool on_last_micro_batch() const { return micro_batch + 1 == micro_batches; }
  void start_over(int64_t steps);
  Batch next_whole_batch();
  void check_kept_batch() const;
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
  micro_batch = 0;
  finished = present = Counts{};
}

/// Skips the short batch that an epoch without drop_last ends with. Where the whole dataset is smaller than a
/// batch, all are short.
Batch TorchStep::State::next_whole_batch() {
  Batch next = loader->next();
  return next.samples < loader->batch_size() ? loader->next() : next;
}

/// Every operator that writes to a tensor raises its version.
uint32_t version_of(const torch::Tensor& tensor) {
  return tensor.is_inference() ? 0 : static_cast<uint32_t>(tensor._version());
}

/// Where the model gets the kept tensors themselves, as on a CPU, it must leave them as they are.
void TorchStep::State::check_kept_batch() const {
  if (!kept) return;
  for (size_t i = 0; i < kept_versions.size(); ++i) {
    if (version_of(kept->inputs[i]) == kept_versions[i]) continue;
    throw judge_error(
        fmt::format("the model changes inputs[{}] of its batch in place, so that no second step can train on "
                    "the same batch: set measure.loader to normal, or let its forward leave its inputs as "
                    "they are",
                    i));
  }
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
                     const StepOptions& options, std::unique_ptr<GradientExchange> exchange)
    : state_(std::make_unique<State>(std::move(model), std::move(loader), options, std::move(exchange))) {}

TorchStep::~TorchStep() = default;

void TorchStep::begin_block(int64_t steps) {
  state_->start_over(steps);
  if (state_->kept) {
    state_->batch = *state_->kept;
  } else if (state_->pauses_between_blocks) {
    state_->loader->resume();
  }
  state_->exchange->begin_block(steps);
}

void TorchStep::next_batch() {
  if (state_->micro_batch == 0) state_->exchange->begin_step();
  if (!state_->kept) state_->batch = state_->loader->next();
}

void TorchStep::transfer() {
  auto& inputs = state_->batch.inputs;
  const auto& on_host = state_->kept ? state_->kept->inputs : inputs;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const torch::Tensor& input = on_host[i];
    const auto options = torch::TensorOptions(state_->device).dtype(input.scalar_type());
    const auto format = state_->channels_last && input.dim() == 4 ? at::MemoryFormat::ChannelsLast
                                                                  : at::MemoryFormat::Preserve;
    inputs[i] = input.to(options, /*non_blocking=*/true, /*copy=*/false, format);
  }
}

void TorchStep::forward() {
  state_->exchange->before_forward(state_->on_last_micro_batch());
  const AutocastGuard autocast(state_->autocast);
  state_->loss = state_->model->loss(state_->batch);
}

void TorchStep::backward() {
  auto& state = *state_;
  state.exchange->backward(state.loss, state.scaler ? state.scaler->scaled(state.share) : state.share,
                           state.on_last_micro_batch());
  ++state.micro_batch;
  state.losses.at(state.next_loss++) = state.loss.detach();
  state.loss.reset();
  state.present.add({state.batch.samples, state.batch.tokens, state.batch.images});
}

void TorchStep::update() {
  auto& state = *state_;
  const auto overflow = state.optimizer->step(state.clip_norm, state.scaler ? &*state.scaler : nullptr);
  state.exchange->after_update();
  if (overflow.defined()) state.overflows.push_back(overflow);
  state.optimizer->clear_gradients();
  state.exchange->end_step();
  state.micro_batch = 0;
  state.finished.add(std::exchange(state.present, {}));
  ++state.finished_steps;
}

BlockFacts TorchStep::end_block() {
  if (state_->pauses_between_blocks) state_->loader->pause();
  state_->check_kept_batch();
  BlockFacts facts;
  facts.samples = state_->finished.samples;
  facts.tokens = state_->finished.tokens;
  facts.images = state_->finished.images;
  facts.data_wait_host_s = state_->loader->wait_s();
  facts.losses = state_->step_losses();
  facts.skipped_steps = state_->skipped_steps();
  state_->exchange->end_block(state_->finished_steps, facts);
  return facts;
}

void TorchStep::keep_batch() {
  pause_between_blocks();
  state_->kept = state_->next_whole_batch();
  state_->kept_versions.clear();
  for (const torch::Tensor& input : state_->kept->inputs) {
    state_->kept_versions.push_back(version_of(input));
  }
}

FlopTotals TorchStep::count() {
  state_->kept.reset();
  state_->exchange->set_on(false);
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
  state_->exchange->set_on(true);
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

void TorchStep::set_exchange(bool on) {
  state_->exchange->set_on(on);
}

ExchangeTimes TorchStep::exchange_times() const {
  return state_->exchange->times();
}

std::string TorchStep::exchange_collective() const {
  return state_->exchange->collective();
}

std::vector<torch::Tensor> TorchStep::trained_state() const {
  std::vector<torch::Tensor> tensors = state_->parameters;
  const auto add = [&](const std::vector<torch::Tensor>& more) {
    tensors.insert(tensors.end(), more.begin(), more.end());
  };
  add(state_->optimizer->state());
  if (state_->scaler) add(state_->scaler->state());
  return tensors;
}

int64_t TorchStep::parameters() const {
  int64_t count = 0;
  for (const auto& parameter : state_->parameters) {
    count += parameter.numel();
  }
  return count;
}

}  // namespace flopmark
