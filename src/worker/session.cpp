#include "worker/session.h"

#include <c10/util/Exception.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <memory>
#include <optional>

#include "flopmark/error.h"
#include "train/error_text.h"
#include "train/torch_step.h"
#include "worker/channel.h"
#include "worker/control.h"
#include "worker/describe_failure.h"
#include "worker/exit_watch.h"
#include "worker/hang_watch.h"
#include "worker/lost_collectives.h"
#include "worker/measure_peak.h"
#include "worker/measured_job.h"
#include "worker/memory.h"
#include "worker/meta_count.h"
#include "worker/rank_job.h"
#include "worker/torch_ruler.h"

namespace flopmark {
namespace {

RunConfig read_config(const std::filesystem::path& file) {
  std::ifstream in(file);
  return config_from_resolved(nlohmann::json::parse(in));
}

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

/// The first step of several ranks finds out what to exchange, the second in which order: see DataParallel.
constexpr int64_t kLeastRankSteps = 2;

LaunchSamples end_of_launch(MeasuredJob& session, LoopState& state) {
  const bool failed = session.samples().failure.has_value();
  if (!state.stop.load() && !failed) {
    session.count_flops();
  }
  session.samples().status = failed ? "failed" : state.stop.load() ? "incomplete" : "ok";
  state.step.store(0);
  state.stage.store(LoopState::Stage::save);
  session.join_ranks();
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
  MeasuredJob session(config, maker, state);
  channel.set_samples_per_step(config.data.batch_size * config.train.gradient_accumulation);
  session.warm_up(1);
  channel.set_quiet(true);
  if (!state.stop.load()) {
    session.take_turns(orders, channel);
  }
  channel.set_quiet(false);
  return end_of_launch(session, state);
}

/// The story of a launch that times its steps in one go.
LaunchSamples run_whole_launch(const RunConfig& config, const ModelMaker& maker, LoopState& state,
                               Channel& channel, RankJob* ranks) {
  const torch::Device device = prepare_device(config);
  std::optional<Ruler> ruler;
  if (ranks == nullptr || ranks->reads_ruler()) read_ruler_on(device, ruler);
  if (ranks != nullptr) ranks->group().gather("ruler", nullptr);
  MemoryWatch::forget_host_peak();
  MeasuredJob session(config, maker, state, ranks);
  session.samples().ruler = std::move(ruler);
  channel.set_samples_per_step(config.data.batch_size * config.train.gradient_accumulation *
                               (ranks != nullptr ? ranks->place().ranks : 1));
  session.warm_up(ranks != nullptr ? kLeastRankSteps : 0);
  if (!state.stop.load()) {
    session.time_steps();
  }
  if (!state.stop.load() && !session.samples().failure) {  // a device that failed may refuse all work
    if (ranks != nullptr) ranks->group().wait_for_all();
    if (ranks == nullptr || ranks->reads_ruler()) read_ruler_on(device, session.samples().ruler);
    if (ranks != nullptr) ranks->group().wait_for_all();
  }
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
    MeasuredJob session(config, maker, state);
    session.count_flops();
    return std::move(session.samples());
  }
  return run_whole_launch(config, maker, state, channel, nullptr);
}

/// Reports a rank that hangs, from another thread than its own, and ends it.
[[noreturn]] void leave_hung(const Failure& failure, RankJob& ranks, Channel& channel) {
  ranks.note(failure);
  channel.report_failure(failure);
  ranks.linger();
  ::_exit(kWorkerSentFailure);  // without a flush: who hangs may hold a stream's lock
}

/// The story of a launch of one rank of several.
LaunchSamples run_rank(RankJob& ranks, const ModelMaker& maker, LoopState& state, Channel& channel) {
  ranks.meet();
  std::optional<HangWatch> watch;
  if (ranks.place().meeting_file.empty()) {  // else the front-end has all ranks, and sees to it
    watch.emplace(state, HangWatch::Options{
                             .patience = std::chrono::duration<double>(ranks.group().timeout_s()),
                             .given_up = [&] { return ranks.given_up(failure_at(state, "timeout", "")); },
                             .leave = [&](const Failure& failure) { leave_hung(failure, ranks, channel); }});
  }
  return run_whole_launch(ranks.config(), maker, state, channel, &ranks);
}

/// Reports what ended the launch. @returns the exit code.
int report_end(Channel& channel, const LoopState& state, RankJob* ranks, const std::exception* error) {
  if (const auto* mistake = dynamic_cast<const Error*>(error);
      mistake != nullptr && mistake->code() != ExitCode::cannot_judge) {
    if (ranks != nullptr) ranks->explained(failure_at(state, "error", mistake->what()), nullptr);
    channel.report_error(mistake->code(), mistake->what());
    return static_cast<int>(mistake->code());
  }
  Failure failure =
      error == nullptr
          ? failure_at(state, "error", "the model threw something that is not a std::exception")
          : (dynamic_cast<const Error*>(error) != nullptr ? failure_at(state, "error", error->what())
                                                          : describe_failure(*error, state));
  if (ranks != nullptr) failure = ranks->explained(failure, dynamic_cast<const PeerLost*>(error));
  channel.report_failure(failure);
  return static_cast<int>(ExitCode::cannot_judge);
}

/// Ends a rank that failed at once: collectives under way would hold up an orderly end until their time
/// limit.
int leave(int code, const RankJob* ranks) {
  if (ranks == nullptr) return code;
  ranks->linger();
  std::fflush(nullptr);
  ::_exit(code);
}

/// Of a rank that cannot even meet the others, whom a launcher started elsewhere: they need not wait for it.
/// Its mistake is reported, and its front-end waits for seconds only.
int stay_away(int code, const SessionOptions& options, const Failure& failure) {
  constexpr double kLimit_s = 3;
  if (!options.place || options.place->ranks == 1 || !options.place->meeting_file.empty()) return code;
  RankGroup({.place = *options.place, .timeout_s = kLimit_s}).stay_away(failure, kLimit_s);
  std::fflush(nullptr);
  ::_exit(code);
}

/// What NCCL's watchdog is about to end the process for.
void report_loss(Channel& channel, const LoopState& state, RankJob& ranks, const std::exception& error) {
  const PeerLost lost("the exchange between the ranks failed: " + first_line_of(error));
  report_end(channel, state, &ranks, &lost);
  ranks.linger();
}

/// This process's part in a job of several ranks; null if it is alone.
std::unique_ptr<RankJob> make_rank_job(const SessionOptions& options) {
  if (!options.place || options.place->ranks == 1) return nullptr;
  return std::make_unique<RankJob>(*options.place, complete_config(read_config(options.config)));
}

}  // namespace

int run_session(const SessionOptions& options, const ModelMaker& maker) {
  static LoopState state;  // static: the crash handler and the control thread outlive this call
  static Orders orders;
  report_crashes(options.progress_fd, state);
  Channel channel(options.progress_fd, state);
  const ExitWatch exits(channel, state);
  follow_front_end(state, orders);
  std::unique_ptr<RankJob> ranks;
  try {
    ranks = make_rank_job(options);
    std::optional<LostCollectives> watched;
    if (ranks) {
      watched.emplace([&](const std::exception& error) { report_loss(channel, state, *ranks, error); });
    }
    write_samples(ranks ? run_rank(*ranks, maker, state, channel)
                        : run_launch_steps(options, maker, state, channel, orders),
                  options.samples);
    return static_cast<int>(ExitCode::ok);
  } catch (const std::exception& error) {
    const int code = report_end(channel, state, ranks.get(), &error);
    return ranks ? leave(code, ranks.get())
                 : stay_away(code, options, failure_at(state, "error", error.what()));
  } catch (...) {
    return leave(report_end(channel, state, ranks.get(), nullptr), ranks.get());
  }
}

}  // namespace flopmark
