#include "worker/session.h"

#include <c10/util/Exception.h>
#include <unistd.h>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <new>
#include <system_error>

#include "flopmark/error.h"
#include "measure/condition_sampler.h"
#include "measure/host_marker.h"
#include "train/device_marker.h"
#include "train/torch_step.h"
#include "worker/channel.h"
#include "worker/device_facts.h"
#include "worker/measure_peak.h"
#include "worker/memory.h"
#include "worker/meta_count.h"
#include "worker/torch_ruler.h"

namespace flopmark {
namespace {

/// Warm-up on a GPU lasts at least this long: clocks and temperature settle (architecture, section 5).
constexpr double kGpuWarmupMinS = 30;
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
  if (shape.type == "torchscript") {
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
    step_ = make_step(job, config);
    marker_ = make_marker(device_, clock_);
    samples_.parameters = step_->parameters();
    samples_.matmul_precision = matmul_precision(config.train.precision);
    samples_.environment = worker_environment(device_);
    sensors_ = sensors_of(device_);
  }

  void warm_up() {
    WarmupOptions options = warmup_options(config_, device_);
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
    step_->pause_loading();  // what follows is no part of the job
  }

  void count_flops() {
    state_.step.store(0);
    state_.stage.store(LoopState::Stage::count);
    samples_.flops = step_->count();
    samples_.zero_inputs = samples_.zero_inputs.value_or(true) && step_->read_only_zeros();
    samples_.attention_kernel = attention_kernel(*samples_.flops, config_.model);
  }

  LaunchSamples& samples() { return samples_; }

 private:
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

/// The story of a launch.
LaunchSamples run_launch_steps(const SessionOptions& options, const ModelMaker& maker, LoopState& state,
                               Channel& channel) {
  if (options.measure_peak) return measure_peak(options.config, state);
  const RunConfig config = read_config(options.config);
  if (options.count_only && config.model.torchscript.empty()) return count_only(config, state);
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
    session.count_flops();
  }
  session.samples().status = state.stop.load() ? "incomplete" : "ok";
  state.step.store(0);
  state.stage.store(LoopState::Stage::save);
  return std::move(session.samples());
}

Failure failure_at(const LoopState& state, const std::string& kind, const std::string& text) {
  const int64_t step = state.step.load();
  return {.kind = kind,
          .phase = stage_name(state.stage.load()),
          .step = step > 0 ? std::optional<int64_t>(step) : std::nullopt,
          .text = text};
}

bool is_out_of_memory(const std::exception& error) {
  const std::string text = error.what();
  return dynamic_cast<const c10::OutOfMemoryError*>(&error) != nullptr ||
         dynamic_cast<const std::bad_alloc*>(&error) != nullptr ||
         text.find("can't allocate memory") != std::string::npos ||
         text.find("not enough memory") != std::string::npos ||
         text.find("out of memory") != std::string::npos;
}

/// The interpreter shows the model's source lines, and what went wrong last.
std::string interpreter_message(const std::string& text) {
  const size_t end = text.find_last_not_of('\n');
  const size_t begin = text.rfind('\n', end);
  return "the TorchScript model's forward or loss failed: " +
         text.substr(begin == std::string::npos ? 0 : begin + 1, end - begin) +
         "; do data.inputs (sizes, dtypes, high) fit its arguments?";
}

/// LibTorch's messages carry a C++ stack trace behind the first line; users get the first line.
std::string message_of(const std::exception& error) {
  const auto* torch_error = dynamic_cast<const c10::Error*>(&error);
  std::string text = torch_error != nullptr ? torch_error->what_without_backtrace() : error.what();
  text = text.substr(0, text.find("\nException raised from"));
  return text.find("TorchScript interpreter") == std::string::npos ? text : interpreter_message(text);
}

Failure describe(const std::exception& error, const LoopState& state) {
  if (const auto* nan = dynamic_cast<const NanLoss*>(&error)) {
    return {.kind = "nan_loss", .phase = stage_name(nan->stage), .step = nan->step, .text = nan->what()};
  }
  if (is_out_of_memory(error)) {
    return failure_at(state, "out_of_memory", message_of(error) + " (" + free_memory_text() + ")");
  }
  return failure_at(state, "error", message_of(error));
}

}  // namespace

int run_session(const SessionOptions& options, const ModelMaker& maker) {
  static LoopState state;  // static: the crash handler and the control thread outlive this call
  report_crashes(options.progress_fd, state);
  Channel channel(options.progress_fd, state);
  follow_front_end(state);
  try {
    write_samples(run_launch_steps(options, maker, state, channel), options.samples);
    return static_cast<int>(ExitCode::ok);
  } catch (const Error& error) {
    if (error.code() == ExitCode::cannot_judge) {
      channel.report_failure(failure_at(state, "error", error.what()));
      return static_cast<int>(ExitCode::cannot_judge);
    }
    channel.report_error(error.code(), error.what());
    return static_cast<int>(error.code());
  } catch (const std::exception& error) {
    channel.report_failure(describe(error, state));
  } catch (...) {
    channel.report_failure(
        failure_at(state, "error", "the model threw something that is not a std::exception"));
  }
  return static_cast<int>(ExitCode::cannot_judge);
}

}  // namespace flopmark
