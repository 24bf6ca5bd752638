#include "worker/session.h"

#include <c10/util/Exception.h>
#include <unistd.h>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <fstream>

#include "config/input_list.h"
#include "flopmark/error.h"
#include "measure/cached_pass.h"
#include "measure/condition_sampler.h"
#include "measure/host_marker.h"
#include "measure/turns.h"
#include "stats/quantile.h"
#include "train/device_marker.h"
#include "train/torch_step.h"
#include "worker/channel.h"
#include "worker/control.h"
#include "worker/describe_failure.h"
#include "worker/device_facts.h"
#include "worker/measure_peak.h"
#include "worker/memory.h"
#include "worker/meta_count.h"
#include "worker/torch_ruler.h"

namespace flopmark {
namespace {

/// Warm-up on a GPU lasts at least this long: clocks and temperature settle (architecture, section 5).
constexpr double kGpuWarmupMinS = 30;
/// What a turn is cut by: as many steps as the warm-up detector looks at.
constexpr std::ptrdiff_t kUsualSteps = 40;
/// A device's clock changes within tenths of a second; a CPU thread that wakes up takes time from the step.
constexpr std::chrono::milliseconds kDeviceSamplePeriod{100}, kCpuSamplePeriod{500};

RunConfig read_config(const std::filesystem::path& file) {
  std::ifstream in(file);
  return config_from_resolved(nlohmann::json::parse(in));
}

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

/// Which attention ran, told from the operators that were counted. A model from a file may multiply batches
/// of matrices for other reasons than attention; then it is not known: empty.
std::string attention_kernel(const FlopTotals& totals, const ModelShape& shape) {
  if (is_counted(totals, "scaled_dot_product")) {
    return "fused";
  }
  if (!shape.file().empty()) {
    return is_counted(totals, "bmm") ? "" : "none";
  }
  return shape.heads > 0 ? "unfused" : "none";
}

/// The steps of one launch, in order. Members are made in the order in which they are needed.
class Session {
 public:
  Session(const RunConfig& config, const ModelMaker& maker, LoopState& state)
      : config_(config), state_(state) {
    Job job = make_job(config, maker, state);
    device_ = job.device;
    samples_.data = job.data;
    if (config.model.type == "exported") samples_.model_data = model_data_to_json(config.data);
    step_ = make_step(job, config);
    marker_ = make_marker(device_, clock_);
    samples_.parameters = step_->parameters();
    samples_.matmul_precision = matmul_precision(config.train.precision);
    samples_.environment = worker_environment(device_);
    sensors_ = sensors_of(device_);
  }

  void warm_up(int64_t least_steps = 0) {
    WarmupOptions options = warmup_options(config_, device_);
    options.min_steps = std::max(options.min_steps, least_steps);
    std::optional<DeviceThermometer> thermometer;
    if (sensors_) options.thermometer = &thermometer.emplace(*sensors_);
    samples_.warmup = run_warmup(*step_, *marker_, clock_, options, state_);
  }

  void time_steps() {
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
    if (config_.measure.loader == "both" && !state_.stop.load()) time_cached_steps();
  }

  /// Waits for the front-end's turns, runs them, and returns when it gives no more. Nothing of this process
  /// runs in between: no loader, no sampler, no progress. Conditions are read at the end of each turn, off
  /// its clock.
  void take_turns(Orders& orders, Channel& channel) {
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

  void count_flops() {
    state_.step.store(0);
    state_.stage.store(LoopState::Stage::count);
    samples_.flops = step_->count();
    samples_.counted_samples = step_->counted_samples();
    samples_.zero_inputs = samples_.zero_inputs.value_or(true) && step_->read_only_zeros();
    samples_.attention_kernel = attention_kernel(*samples_.flops, config_.model);
  }

  LaunchSamples& samples() { return samples_; }

 private:
  void time_cached_steps() {
    BlockSamples cached = run_cached_pass(*step_, *marker_, clock_,
                                          {.steps = config_.measure.steps,
                                           .micro_batches = config_.train.gradient_accumulation,
                                           .steps_before = samples_.timed.steps},
                                          state_);
    if (!state_.stop.load()) samples_.cached = std::move(cached);
  }

  TurnSamples take_turn(int64_t steps) {
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
  double usual_step_s() const {
    const std::vector<double>& all = samples_.warmup.step_s;
    return median({all.end() - std::min(std::ssize(all), kUsualSteps), all.end()});
  }

  const RunConfig& config_;
  LoopState& state_;
  torch::Device device_ = torch::kCPU;
  SteadyClock clock_;
  LaunchSamples samples_;
  std::unique_ptr<TorchStep> step_;
  std::unique_ptr<Marker> marker_;
  std::unique_ptr<NvmlDevice> sensors_;
};

/// @throws Error 200 for sizes whose products exceed 64 bits, in our counts or in LibTorch's tensors.
MetaCount checked_count(const RunConfig& config) {
  std::string reason;
  try {
    return count_on_meta(config);
  } catch (const std::overflow_error& error) {
    reason = error.what();
  } catch (const c10::Error& error) {
    reason = error.what_without_backtrace();
    if (reason.find("overflow") == std::string::npos) throw;
  }
  throw usage_error(
      fmt::format("{}: this model and batch are too large to count; lower data.batch_size, "
                  "data.sequence_length or the model's sizes ({})",
                  config.name, reason.substr(0, reason.find('\n'))));
}

/// What a built-in model's step would compute; nothing is measured.
LaunchSamples count_only(const RunConfig& config, LoopState& state) {
  state.stage.store(LoopState::Stage::count);
  MetaCount count = checked_count(config);
  LaunchSamples samples;
  samples.parameters = count.parameters;
  samples.matmul_precision = matmul_precision(config.train.precision);
  samples.attention_kernel = attention_kernel(count.flops, config.model);
  samples.flops = std::move(count.flops);
  return samples;
}

LaunchSamples end_of_launch(Session& session, LoopState& state) {
  if (!state.stop.load()) {
    session.count_flops();
  }
  session.samples().status = state.stop.load() ? "incomplete" : "ok";
  state.step.store(0);
  state.stage.store(LoopState::Stage::save);
  return std::move(session.samples());
}

/// The story of a launch that takes turns.
LaunchSamples run_turns(const RunConfig& config, const ModelMaker& maker, LoopState& state, Channel& channel,
                        Orders& orders) {
  channel.set_quiet(true);
  if (orders.wait().kind != ControlLine::Kind::warmup) {
    LaunchSamples none;
    none.status = "incomplete";
    return none;
  }
  channel.set_quiet(false);
  Session session(config, maker, state);
  channel.set_samples_per_step(config.data.batch_size * config.train.gradient_accumulation);
  session.warm_up(1);
  channel.set_quiet(true);
  if (!state.stop.load()) {
    session.take_turns(orders, channel);
  }
  channel.set_quiet(false);
  return end_of_launch(session, state);
}

/// The story of a launch.
LaunchSamples run_launch_steps(const SessionOptions& options, const ModelMaker& maker, LoopState& state,
                               Channel& channel, Orders& orders) {
  if (options.measure_peak) return measure_peak(options.config, state);
  const RunConfig config = complete_config(read_config(options.config));
  if (options.count_only && config.model.file().empty()) return count_only(config, state);
  if (options.turns > 0) return run_turns(config, maker, state, channel, orders);
  if (options.count_only) {  // what a model from a file does is known only by doing it
    Session session(config, maker, state);
    session.count_flops();
    return std::move(session.samples());
  }
  const torch::Device device = prepare_device(config);
  std::optional<Ruler> ruler;
  read_ruler_on(device, ruler);
  MemoryWatch::forget_host_peak();
  Session session(config, maker, state);
  session.samples().ruler = std::move(ruler);
  channel.set_samples_per_step(config.data.batch_size * config.train.gradient_accumulation);
  session.warm_up();
  if (!state.stop.load()) {
    session.time_steps();
  }
  if (!state.stop.load()) {
    read_ruler_on(device, session.samples().ruler);
  }
  return end_of_launch(session, state);
}

}  // namespace

int run_session(const SessionOptions& options, const ModelMaker& maker) {
  static LoopState state;  // static: the crash handler and the control thread outlive this call
  static Orders orders;
  report_crashes(options.progress_fd, state);
  Channel channel(options.progress_fd, state);
  follow_front_end(state, orders);
  try {
    write_samples(run_launch_steps(options, maker, state, channel, orders), options.samples);
    return static_cast<int>(ExitCode::ok);
  } catch (const Error& error) {
    if (error.code() == ExitCode::cannot_judge) {
      channel.report_failure(failure_at(state, "error", error.what()));
      return static_cast<int>(ExitCode::cannot_judge);
    }
    channel.report_error(error.code(), error.what());
    return static_cast<int>(error.code());
  } catch (const std::exception& error) {
    channel.report_failure(describe_failure(error, state));
  } catch (...) {
    channel.report_failure(
        failure_at(state, "error", "the model threw something that is not a std::exception"));
  }
  return static_cast<int>(ExitCode::cannot_judge);
}

}  // namespace flopmark
