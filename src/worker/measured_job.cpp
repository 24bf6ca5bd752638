#include "worker/measured_job.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "config/input_list.h"
#include "measure/cached_pass.h"
#include "measure/condition_sampler.h"
#include "measure/turns.h"
#include "stats/quantile.h"
#include "train/device_marker.h"
#include "worker/describe_failure.h"
#include "worker/device_facts.h"
#include "worker/exposed_ratio.h"
#include "worker/memory.h"

namespace flopmark {
namespace {

/// Warm-up on a GPU lasts at least this long: clocks and temperature settle (architecture, section 5).
constexpr double kGpuWarmupMinS = 30;
/// What a turn is cut by: as many steps as the warm-up detector looks at.
constexpr std::ptrdiff_t kUsualSteps = 40;
/// A device's clock changes within tenths of a second; a CPU thread that wakes up takes time from the step.
constexpr std::chrono::milliseconds kDeviceSamplePeriod{100}, kCpuSamplePeriod{500};

WarmupOptions warmup_options(const RunConfig& config, const torch::Device& device) {
  return {.min_steps = config.measure.warmup_min_steps,
          .max_steps = config.measure.warmup_max_steps,
          .min_s = device.is_cpu() ? 0 : std::min(kGpuWarmupMinS, config.measure.warmup_max_s),
          .max_s = config.measure.warmup_max_s,
          .micro_batches = config.train.gradient_accumulation};
}

bool is_counted(const FlopTotals& totals, const std::string& part) {
  return std::any_of(totals.by_operator.begin(), totals.by_operator.end(), [&](const OperatorFlops& entry) {
    return entry.name.find(part) != std::string::npos && entry.name.find("math") == std::string::npos;
  });
}

/// What ended the pass on a cached batch, which comes after `timed_steps` timed ones that are whole.
Failure cached_failure(const std::exception& error, const LoopState& state, int64_t timed_steps) {
  Failure failure = describe_failure(error, state);
  failure.text += fmt::format(
      " (in phase {}{}: the second pass of measure.loader both, which trains on one batch again and again; "
      "the {} timed steps before it are in the record)",
      failure.phase, failure.step ? fmt::format(", step {}", *failure.step) : "", timed_steps);
  return failure;
}

}  // namespace

std::string attention_kernel(const FlopTotals& totals, const ModelShape& shape) {
  if (is_counted(totals, "scaled_dot_product")) {
    return "fused";
  }
  if (!shape.file().empty()) {
    return is_counted(totals, "bmm") ? "" : "none";
  }
  return shape.heads > 0 ? "unfused" : "none";
}

MeasuredJob::MeasuredJob(const RunConfig& config, const ModelMaker& maker, LoopState& state, RankJob* ranks)
    : config_(config), state_(state), ranks_(ranks) {
  Job job = make_job(config, maker, state, ranks != nullptr ? ranks->place() : RankPlace{});
  device_ = job.device;
  samples_.data = job.data;
  if (config.model.type == "exported") samples_.model_data = model_data_to_json(config.data);
  if (ranks != nullptr) ranks->agree(job);
  step_ = make_step(job, config, ranks != nullptr ? &ranks->group() : nullptr);
  marker_ = make_marker(device_, clock_);
  samples_.parameters = step_->parameters();
  samples_.matmul_precision = matmul_precision(config.train.precision);
  samples_.environment = worker_environment(device_);
  sensors_ = sensors_of(device_);
}

MeasuredJob::~MeasuredJob() = default;

void MeasuredJob::warm_up(int64_t least_steps) {
  WarmupOptions options = warmup_options(config_, device_);
  options.min_steps = std::max(options.min_steps, least_steps);
  std::optional<DeviceThermometer> thermometer;
  if (sensors_) options.thermometer = &thermometer.emplace(*sensors_);
  if (ranks_ != nullptr) {
    options.all_agree = [this](bool would_end) { return ranks_->group().all_agree(would_end); };
  }
  samples_.warmup = run_warmup(*step_, *marker_, clock_, options, state_);
}

void MeasuredJob::time_steps() {
  MemoryWatch memory(device_);
  memory.reset();
  const BlockOptions options{.steps = config_.measure.steps,
                             .micro_batches = config_.train.gradient_accumulation};
  ConditionSampler conditions({.device = sensors_.get(), .own_pid = ::getpid()},
                              device_.is_cpu() ? kCpuSamplePeriod : kDeviceSamplePeriod);
  conditions.start();
  samples_.timed = run_block(*step_, *marker_, clock_, options, state_);
  samples_.conditions = conditions.finish(samples_.timed.steps);
  samples_.memory = memory.read();
  samples_.zero_inputs = step_->read_only_zeros();
  step_->pause_between_blocks();  // what follows is no part of the job
  if (ranks_ != nullptr) {
    note_exchange();
    time_exposed_exchange();
  }
  if (config_.measure.loader == "both" && !state_.stop.load()) time_cached_steps();
}

void MeasuredJob::note_exchange() {
  own_ = ranks_->summary_of(samples_, step_->exchange_times());
  samples_.communication = CommunicationSamples{.backend = ranks_->backend(),
                                                .collective = step_->exchange_collective(),
                                                .exposed_ratio = std::nullopt,
                                                .exposed_reason = ""};
}

void MeasuredJob::time_exposed_exchange() {
  const ExposedOptions options{.steps = exposed_run_steps(config_.measure.steps),
                               .micro_batches = config_.train.gradient_accumulation,
                               .steps_before = samples_.timed.steps,
                               .set_exchange = [this](bool on) { step_->set_exchange(on); }};
  find_exposed_ratio(*step_, *marker_, clock_, options, state_, *ranks_, *samples_.communication);
}

void MeasuredJob::take_turns(Orders& orders, Channel& channel) {
  MemoryWatch memory(device_);
  memory.reset();
  ConditionLog conditions({.device = sensors_.get(), .own_pid = ::getpid(), .turns = true});
  conditions.begin();
  conditions.pause();
  step_->pause_between_blocks();
  channel.report_ready({usual_step_s()});
  ControlLine order = orders.wait();
  for (; order.kind == ControlLine::Kind::turn; order = orders.wait()) {
    conditions.resume();
    const TurnSamples turn = take_turn(order.steps);
    conditions.take();
    conditions.pause();
    if (state_.stop.load()) break;
    channel.report_turn(turn);
  }
  samples_.conditions = conditions.end(samples_.timed.steps);
  samples_.memory = memory.read();
}

void MeasuredJob::count_flops() {
  state_.step.store(0);
  state_.stage.store(LoopState::Stage::count);
  samples_.flops = step_->count();
  samples_.counted_samples = step_->counted_samples();
  samples_.zero_inputs = samples_.zero_inputs.value_or(true) && step_->read_only_zeros();
  samples_.attention_kernel = attention_kernel(*samples_.flops, config_.model);
}

void MeasuredJob::join_ranks() {
  if (ranks_ != nullptr) ranks_->join(samples_, own_);
}

void MeasuredJob::time_cached_steps() try {
  BlockSamples cached = run_cached_pass(
      *step_, *marker_, clock_,
      {.steps = config_.measure.steps, .micro_batches = config_.train.gradient_accumulation}, state_);
  if (!state_.stop.load()) samples_.cached = std::move(cached);
} catch (const std::exception& error) {
  if (ranks_ != nullptr) throw;  // the others are in an exchange with this one
  samples_.failure = cached_failure(error, state_, samples_.timed.steps);
}

TurnSamples MeasuredJob::take_turn(int64_t steps) {
  const auto queue_depth = step_->queue_depth();
  const BlockSamples block = run_turn(*step_, *marker_, clock_,
                                      {.steps = steps,
                                       .micro_batches = config_.train.gradient_accumulation,
                                       .steps_before = samples_.timed.steps,
                                       .discard_first = !device_.is_cpu()},
                                      state_);
  append(samples_.timed, block);
  samples_.turns.push_back({block.steps, block.wall_s, queue_depth});
  return samples_.turns.back();
}

/// Median of the last steps of the warm-up, which has at least one.
double MeasuredJob::usual_step_s() const {
  const std::vector<double>& all = samples_.warmup.step_s;
  return median({all.end() - std::min(std::ssize(all), kUsualSteps), all.end()});
}

}  // namespace flopmark
