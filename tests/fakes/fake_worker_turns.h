#pragma once

#include <csignal>
#include <fstream>
#include <iostream>
#include <map>
#include <optional>
#include <string>
#include <thread>

#include "fakes/fake_worker_talk.h"
#include "launch/control_line.h"

/// The fake worker when it takes turns. Driven by environment variables, so that each side of a pair has its
/// own:
///   FAKE_TURNS     how it behaves: a name of turn_modes() below; "ok" if not set. Things happen in turn 3.
///   FAKE_NAME      what it calls itself in the log
///   FAKE_TURN_LOG  a file to which it appends "<name> <what>" lines as it goes
namespace flopmark::fake {

inline constexpr int64_t kFatalTurn = 3;

/// Where a fake that takes turns is.
struct TurnTaker {
  const Task& task;
  std::string pending = "";
  LaunchSamples samples = {};

  void log(const std::string& what) const {
    const std::string file = variable("FAKE_TURN_LOG", "");
    const std::string line = variable("FAKE_NAME", "fake") + " " + what + "\n";
    if (!file.empty()) std::ofstream(file, std::ios::app) << line << std::flush;
  }

  /// The next line of the control pipe; waits. None: the front-end is gone.
  std::optional<ControlLine> next_order() {
    while (true) {
      const size_t end = pending.find('\n');
      if (end != std::string::npos) {
        const auto order = parse_control_line(pending.substr(0, end));
        pending.erase(0, end + 1);
        if (order) return order;
        continue;
      }
      char bytes[64];
      const ssize_t count = ::read(STDIN_FILENO, bytes, sizeof bytes);
      if (count <= 0) return std::nullopt;
      pending.append(bytes, static_cast<size_t>(count));
    }
  }

  int64_t turn_number() const { return static_cast<int64_t>(samples.turns.size()) + 1; }

  void take_turn(int64_t steps) {
    log("begins " + std::to_string(steps));
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    samples.turns.push_back({steps, static_cast<double>(steps) * task.step_s, 4});
    log("ends");
  }

  /// Leaves its samples; `timed` is of all turns.
  int write(const char* status) {
    int64_t steps = 0;
    for (const TurnSamples& turn : samples.turns) steps += turn.steps;
    LaunchSamples all = fake_samples(task, steps);
    all.turns = samples.turns;
    all.status = status;
    for (const char* name : {"OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME"}) {
      all.environment.variables[name] = variable(name, "not set");
    }
    write_samples(all, task.samples_path);
    return kWorkerWroteSamples;
  }
};

/// Called at an event; whether the fake goes on, and if not, its exit code.
using Misdeed = std::optional<int> (*)(TurnTaker&);

/// What a fake does otherwise than it should, at which event.
struct TurnMode {
  Misdeed at_warmup = nullptr, in_turn = nullptr, after_turn = nullptr, at_end = nullptr;
};

inline std::optional<int> fail_now(TurnTaker& taker, const char* kind, const char* phase) {
  say(taker.task, format_failure({kind, phase, 7, std::string("a fake ") + kind}));
  return kWorkerSentFailure;
}

inline std::optional<int> hang_now(TurnTaker& taker) {
  while (taker.next_order()) {
  }
  return 1;
}

inline std::optional<int> die(TurnTaker&) {
  std::raise(SIGKILL);
  return 1;
}

/// Dies while it waits: its turn line is out, the other one's turn has begun.
inline std::optional<int> die_soon(TurnTaker& taker) {
  say(taker.task, format_turn(taker.samples.turns.back()));
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  return die(taker);
}

inline std::optional<int> crash_now(TurnTaker& taker) {
  std::cerr << "model.cpp: about to read past the end\n" << std::flush;
  char line[256];
  write_all(taker.task.progress_fd, {line, format_crash_line(line, sizeof line, "timed", 11)});
  std::signal(SIGSEGV, SIG_DFL);
  std::raise(SIGSEGV);
  return 1;
}

inline std::optional<int> talk_nonsense(TurnTaker& taker) {
  say(taker.task, "not json\n{\"turn\":17}\n{\"ready\":{\"step_s\":-1}}\n{\"turn\":{\"steps\":1}}\n");
  return std::nullopt;
}

inline std::optional<int> refuse(TurnTaker& taker) {
  say(taker.task, format_worker_error({ExitCode::usage, "corpus.bin: token 300 is not below 256"}));
  return kWorkerSentError;
}

inline const std::map<std::string, TurnMode>& turn_modes() {
  static const std::map<std::string, TurnMode> modes = {
      {"ok", {}},
      {"slow", {.in_turn = [](TurnTaker&) -> std::optional<int> {
         std::this_thread::sleep_for(std::chrono::milliseconds(300));
         return std::nullopt;
       }}},
      {"crash", {.in_turn = crash_now}},
      {"kill", {.in_turn = die}},
      {"die_waiting", {.after_turn = die_soon}},
      {"hang", {.in_turn = hang_now}},
      {"never_ready", {.at_warmup = hang_now}},
      {"refuse", {.at_warmup = refuse}},
      {"oom_warmup", {.at_warmup = [](TurnTaker& t) { return fail_now(t, "out_of_memory", "warmup"); }}},
      {"oom", {.in_turn = [](TurnTaker& t) { return fail_now(t, "out_of_memory", "timed"); }}},
      {"nan", {.in_turn = [](TurnTaker& t) { return fail_now(t, "nan_loss", "timed"); }}},
      {"nonsense", {.at_warmup = talk_nonsense, .in_turn = talk_nonsense, .after_turn = talk_nonsense}},
      {"short_turn", {.after_turn = [](TurnTaker& t) -> std::optional<int> {
         t.samples.turns.back().steps += 1;
         return std::nullopt;
       }}},
      {"two_turns", {.after_turn = [](TurnTaker& t) -> std::optional<int> {
         say(t.task, format_turn(t.samples.turns.back()));
         return std::nullopt;
       }}},
      {"early", {.in_turn = [](TurnTaker& t) -> std::optional<int> { return t.write("ok"); }}},
      {"forgets", {.at_end = [](TurnTaker& t) -> std::optional<int> {
         t.samples.turns.pop_back();
         return std::nullopt;
       }}},
      {"oom_end", {.at_end = [](TurnTaker& t) { return fail_now(t, "out_of_memory", "count"); }}},
  };
  return modes;
}

inline std::optional<int> misdeed(Misdeed what, TurnTaker& taker) {
  return what == nullptr ? std::nullopt : what(taker);
}

/// The answer to one order; the exit code once it ends.
inline std::optional<int> obey(const ControlLine& order, const TurnMode& mode, TurnTaker& taker) {
  using Kind = ControlLine::Kind;
  if (order.kind == Kind::stop) return taker.write("incomplete");
  if (order.kind == Kind::warmup) {
    taker.log("warms up");
    say(taker.task, format_progress({"warmup", taker.task.warmup_steps, 0, 0}));
    if (const auto code = misdeed(mode.at_warmup, taker)) return code;
    say(taker.task, format_ready({taker.task.step_s}));
  } else if (order.kind == Kind::turn) {
    const bool fatal = taker.turn_number() >= kFatalTurn;
    if (fatal) {
      if (const auto code = misdeed(mode.in_turn, taker)) return code;
    }
    taker.take_turn(order.steps);
    if (fatal) {
      if (const auto code = misdeed(mode.after_turn, taker)) return code;
    }
    say(taker.task, format_turn(taker.samples.turns.back()));
  } else {
    taker.log("is told to end");
    if (const auto code = misdeed(mode.at_end, taker)) return code;
    return taker.write("ok");
  }
  return std::nullopt;
}

inline int take_turns(const Task& task) {
  const auto found = turn_modes().find(variable("FAKE_TURNS", "ok"));
  if (found == turn_modes().end()) return 2;
  TurnTaker taker{task};
  taker.log("starts");
  say(task, format_hello());
  say(task, format_progress({"load", 0, 0, 0}));
  while (const auto order = taker.next_order()) {
    if (const auto code = obey(*order, found->second, taker)) return *code;
  }
  return 1;
}

}  // namespace flopmark::fake
