#include "launch/launch_outcome.h"

#include <fmt/format.h>

#include <csignal>

#include "flopmark/counted.h"

namespace flopmark {
namespace {

/// Where in the run something happened; a step is named only if the phase it counts in is known.
struct Place {
  std::string phase;
  std::optional<int64_t> step;
  int64_t steps = 0;  ///< 0 = open-ended or not known

  std::string text() const {
    std::string out = fmt::format("in phase {}", phase);
    if (step) out += fmt::format(", step {}", *step);
    if (step && steps >= *step) out += fmt::format(" of {}", steps);
    return out;
  }
};

Place last_place(const ProgressUpdate& last) {
  Place place{last.phase, std::nullopt, last.steps};
  if (last.step > 0) place.step = last.step;
  return place;
}

/// Where the worker says that it failed, filled up from its last progress line.
Place reported_place(const Failure& failure, const ProgressUpdate& last) {
  if (failure.phase.empty()) return last_place(last);
  Place place{failure.phase, failure.step, 0};
  if (failure.phase == last.phase) {
    place.steps = last.steps;
    if (!place.step && last.step > 0) place.step = last.step;
  }
  return place;
}

Failure failure_at(const char* kind, const Place& place, std::string text) {
  return {kind, place.phase, place.step, std::move(text)};
}

bool comes_from_outside(int signal) {
  return signal == SIGKILL || signal == SIGTERM || signal == SIGINT || signal == SIGHUP || signal == SIGQUIT;
}

Failure signal_failure(const WorkerEnd& end, const Place& place) {
  const std::string name = signal_name(end.status.signal);
  if (!comes_from_outside(end.status.signal)) {
    return failure_at("crash", place,
                      with_log(fmt::format("worker crashed ({}) {}", name, place.text()), end));
  }
  std::string text = fmt::format("worker was killed from outside ({}) {}", name, place.text());
  if (end.status.signal == SIGKILL) {
    text +=
        "; the likely cause is the kernel's out-of-memory killer: see `dmesg`, and try a smaller batch size";
  }
  return failure_at("killed", place, with_log(text, end));
}

/// The worker's own words, with the place if they lack it.
Failure reported_failure(const WorkerEnd& end) {
  const Place place = reported_place(*end.failure, end.last);
  std::string text = end.failure->text;
  if (text.find("phase " + place.phase) == std::string::npos) text += " (" + place.text() + ")";
  return {end.failure->kind, place.phase, place.step, text, end.failure->rank, end.failure->host};
}

Failure timeout_failure(const WorkerEnd& end, const LaunchRequest& request) {
  const Place place = last_place(end.last);
  std::string text =
      fmt::format("worker did not end within the limit of {:g} s (measure.timeout_s): killed {}",
                  request.timeout.count(), place.text());
  if (!end.status.reaped) text += "; it is stuck in the kernel, perhaps in a driver, and may still be there";
  return failure_at("timeout", place, with_log(text, end));
}

/// Why the launch failed, as far as its end alone tells; absent if the worker ended well.
std::optional<Failure> failure_of(const WorkerEnd& end, const LaunchRequest& request) {
  const bool died = end.status.signal != 0 && !end.killed_by_us;
  if (end.failure && end.failure->kind == "crash" && died) {
    return signal_failure(end, reported_place(*end.failure, end.last));
  }
  if (end.failure) return reported_failure(end);
  if (end.timed_out) return timeout_failure(end, request);
  const Place place = last_place(end.last);
  if (died) return signal_failure(end, place);
  if (end.status.code != kWorkerWroteSamples) {
    return failure_at(
        "error", place,
        with_log(fmt::format("worker ended with exit code {} {}", end.status.code, place.text()), end));
  }
  return std::nullopt;
}

/// The samples a worker left, or why there are none.
struct Left {
  std::optional<LaunchSamples> samples;
  std::string reason;
};

Left samples_left(const std::filesystem::path& file) {
  std::error_code error;
  if (!std::filesystem::exists(file, error))
    return {std::nullopt, "worker ended without writing its samples"};
  try {
    return {read_samples(file), ""};
  } catch (const std::exception& cause) {
    return {std::nullopt, fmt::format("worker wrote samples that cannot be read: {}", cause.what())};
  }
}

/// What a program did that did not greet.
std::string instead_of_greeting(const WorkerEnd& end, const LaunchRequest& request) {
  if (end.first_line) return fmt::format("began with: {}", *end.first_line);
  if (end.killed_by_us) return fmt::format("said nothing within {:g} s", request.greeting.count());
  return end.status.code == 0 ? "said nothing" : fmt::format("ended with exit code {}", end.status.code);
}

/// Error 200 if the worker did not greet as one of this build does: then it is none. One that crashed before
/// it could say anything may be one all the same.
void check_greeting(const WorkerEnd& end, const LaunchRequest& request) {
  const bool crashed = end.status.signal != 0 && !end.killed_by_us;
  if (end.greeted || (crashed && !end.first_line)) return;
  throw usage_error(with_log(
      fmt::format("{} is no worker of this build: it should greet with protocol {} and {}; build both "
                  "programs from the same commit, or name the right worker with --worker or in the "
                  "environment variable FLOPMARK_WORKER",
                  request.worker.string(), kWorkerProtocol, instead_of_greeting(end, request)),
      end));
}

/// A worker that ended well has left samples that say how it went.
void judge_samples(const WorkerEnd& end, Left left, LaunchOutcome& outcome) {
  const Place place = last_place(end.last);
  outcome.samples = std::move(left.samples);
  if (!outcome.samples) {
    outcome.failure =
        failure_at("error", place, with_log(fmt::format("{} ({})", left.reason, place.text()), end));
  } else if (outcome.samples->status == "ok") {
    outcome.status = LaunchOutcome::Status::ok;
  } else if (outcome.samples->failure) {
    outcome.failure = outcome.samples->failure;
  } else {
    outcome.failure = failure_at(
        "error", place,
        with_log(fmt::format("worker ended with status {} unasked {}", outcome.samples->status, place.text()),
                 end));
  }
}

}  // namespace

LaunchOutcome judge_end(const WorkerEnd& end, const LaunchRequest& request,
                        const std::filesystem::path& samples) {
  LaunchOutcome outcome;
  const bool stopped = end.interrupt != 0 || end.dismissed;
  if (!stopped) {
    check_greeting(end, request);
    if (end.error) throw Error(end.error->code, end.error->text);
  }
  Left left = samples_left(samples);
  if (stopped) {
    outcome.status = LaunchOutcome::Status::interrupted;
    outcome.signal = end.interrupt;
    outcome.samples = std::move(left.samples);
    return outcome;
  }
  outcome.failure = failure_of(end, request);
  if (outcome.failure) {
    outcome.samples = std::move(left.samples);
  } else {
    judge_samples(end, std::move(left), outcome);
  }
  return outcome;
}

std::string with_log(std::string text, const WorkerEnd& end) {
  if (end.not_understood > 0) {
    text += fmt::format("; {} of its progress lines {} not understood", end.not_understood,
                        noun_for(end.not_understood, "was", "were"));
  }
  if (end.log.empty()) return text;
  text += end.log.size() == 1 ? "; its last line of output:" : "; its last lines of output:";
  for (const std::string& line : end.log) text += "\n  " + line;
  return text;
}

}  // namespace flopmark
