#include "launch/protocol.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>

#include "launch/printable_text.h"

namespace flopmark {
namespace {

using Json = nlohmann::json;

// JSON escapes at most double a printable text (quote and backslash), so both texts fit the line limit.
constexpr size_t kTextLimitBytes = 24576;
constexpr size_t kWordLimitBytes = 200;

constexpr std::array<std::string_view, 7> kFailureKinds = {"out_of_memory", "crash",   "killed", "timeout",
                                                           "nan_loss",      kPeerLost, "error"};
constexpr std::array<ExitCode, 7> kErrorCodes = {
    ExitCode::cannot_judge, ExitCode::usage,          ExitCode::not_comparable, ExitCode::baseline,
    ExitCode::interference, ExitCode::not_reproduced, ExitCode::internal};

std::string word(std::string_view text) {
  return printable_text(text, kWordLimitBytes);
}

/// Several lines stay several lines; each is made printable.
std::string message(std::string_view text) {
  std::string out;
  text = text.substr(0, kTextLimitBytes);
  while (true) {
    const size_t end = text.find('\n');
    out += printable_text(text.substr(0, end), kTextLimitBytes);
    if (end == std::string_view::npos) break;
    out += '\n';
    text.remove_prefix(end + 1);
  }
  return out;
}

std::string to_line(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::optional<std::string> text_of(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_string()) return std::nullopt;
  return found->get<std::string>();
}

/// An integer in [0, 2^63); absent for anything else.
std::optional<int64_t> count_of(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number_unsigned()) return std::nullopt;
  const auto value = found->get<uint64_t>();
  if (value > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) return std::nullopt;
  return static_cast<int64_t>(value);
}

/// A finite number from 0 up.
std::optional<double> number_from_0(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number()) return std::nullopt;
  const double value = found->get<double>();
  return std::isfinite(value) && value >= 0 ? std::optional(value) : std::nullopt;
}

std::optional<ProgressUpdate> progress_of(const Json& json) {
  const auto phase = text_of(json, "phase");
  const auto step = count_of(json, "step");
  const auto steps = count_of(json, "steps");
  const auto samples_per_s = number_from_0(json, "samples_per_s");
  if (!phase || !step || !steps || !samples_per_s) return std::nullopt;
  return ProgressUpdate{word(*phase), *step, *steps, *samples_per_s};
}

std::optional<WorkerReady> ready_of(const Json& json) {
  if (!json.is_object()) return std::nullopt;
  const auto step_s = number_from_0(json, "step_s");
  return step_s && *step_s > 0 ? std::optional(WorkerReady{*step_s}) : std::nullopt;
}

std::optional<TurnSamples> turn_of(const Json& json) {
  if (!json.is_object() || !json.contains("queue_depth")) return std::nullopt;
  const auto steps = count_of(json, "steps");
  const auto wall_s = number_from_0(json, "wall_s");
  const auto depth = count_of(json, "queue_depth");
  if (!steps || !wall_s || (!depth && !json["queue_depth"].is_null())) return std::nullopt;
  return TurnSamples{*steps, *wall_s, depth};
}

std::optional<Failure> failure_of(const Json& json) {
  if (!json.is_object()) return std::nullopt;
  const auto kind = text_of(json, "kind");
  const auto phase = text_of(json, "phase");
  const auto text = text_of(json, "text");
  if (!kind || !phase || !text) return std::nullopt;
  const bool known = std::find(kFailureKinds.begin(), kFailureKinds.end(), *kind) != kFailureKinds.end();
  Failure failure{known ? *kind : "error", word(*phase), count_of(json, "step"), message(*text)};
  failure.rank = count_of(json, "rank");
  if (const auto host = text_of(json, "host")) failure.host = word(*host);
  return failure;
}

std::optional<WorkerError> error_of(const Json& json) {
  if (!json.is_object()) return std::nullopt;
  const auto code = count_of(json, "code");
  const auto text = text_of(json, "text");
  if (!code || !text) return std::nullopt;
  const auto found = std::find_if(kErrorCodes.begin(), kErrorCodes.end(),
                                  [&](ExitCode known) { return static_cast<int64_t>(known) == *code; });
  if (found == kErrorCodes.end()) return std::nullopt;
  return WorkerError{*found, message(*text)};
}

/// The line as a JSON object; discarded if it is not one. nlohmann's parser keeps its own stack, so depth is
/// bounded by the line's length and not by the thread's stack.
Json object_of(std::string_view line) {
  Json json = Json::parse(line.substr(0, kWorkerLineLimitBytes), nullptr, false);
  if (!json.is_object()) return Json(Json::value_t::discarded);
  return json;
}

/// Appends to a fixed buffer and remembers whether all fitted; used in a signal handler.
struct FixedText {
  char* text;
  size_t size, used = 0;
  bool fits = true;

  void add(const char* more) noexcept {
    for (; *more != '\0'; ++more) {
      if (used == size) {
        fits = false;
        return;
      }
      text[used++] = *more;
    }
  }
  void add_number(int64_t number) noexcept {
    char digits[21] = {};
    char* first = digits + 20;
    for (auto rest = static_cast<uint64_t>(number); rest != 0 || first == digits + 20; rest /= 10) {
      *--first = static_cast<char>('0' + rest % 10);
    }
    add(first);
  }
};

}  // namespace

std::string format_hello() {
  return to_line({{"protocol", kWorkerProtocol}});
}

std::string format_progress(const ProgressUpdate& update) {
  return to_line({{"phase", word(update.phase)},
                  {"step", update.step},
                  {"steps", update.steps},
                  {"samples_per_s", std::isfinite(update.samples_per_s) ? update.samples_per_s : 0}});
}

std::string format_ready(const WorkerReady& ready) {
  return to_line({{"ready", {{"step_s", ready.step_s}}}});
}

std::string format_turn(const TurnSamples& turn) {
  const Json depth = turn.queue_depth ? Json(*turn.queue_depth) : Json(nullptr);
  return to_line({{"turn", {{"steps", turn.steps}, {"wall_s", turn.wall_s}, {"queue_depth", depth}}}});
}

std::string format_failure(const Failure& failure) {
  const Json step = failure.step ? Json(*failure.step) : Json(nullptr);
  Json json = {{"kind", word(failure.kind)},
               {"phase", word(failure.phase)},
               {"step", step},
               {"text", message(failure.text)}};
  if (failure.rank) json["rank"] = *failure.rank;
  if (failure.host) json["host"] = word(*failure.host);
  return to_line({{"failure", json}});
}

std::string format_worker_error(const WorkerError& error) {
  return to_line({{"error", {{"code", static_cast<int>(error.code)}, {"text", message(error.text)}}}});
}

std::string format_version(const WorkerVersion& version) {
  const Json cuda = version.cuda.empty() ? Json(nullptr) : Json(word(version.cuda));
  return to_line(
      {{"protocol", word(version.protocol)}, {"libtorch", word(version.libtorch)}, {"cuda", cuda}});
}

size_t format_crash_line(char* line, size_t size, const char* phase, int64_t step) noexcept {
  FixedText out{line, size};
  out.add("{\"failure\":{\"kind\":\"crash\",\"phase\":\"");
  out.add(phase);
  out.add("\",\"step\":");
  if (step > 0) {
    out.add_number(step);
  } else {
    out.add("null");
  }
  out.add(",\"text\":\"worker crashed\"}}\n");
  return out.fits ? out.used : 0;
}

WorkerLine parse_worker_line(std::string_view line) {
  const auto if_understood = [&](auto parsed) {
    return parsed ? WorkerLine(*std::move(parsed)) : WorkerLine(NotUnderstood{word(line)});
  };
  const Json json = object_of(line);
  if (json.is_discarded()) return NotUnderstood{word(line)};
  if (const auto protocol = text_of(json, "protocol")) return WorkerHello{word(*protocol)};
  if (json.contains("failure")) return if_understood(failure_of(json["failure"]));
  if (json.contains("error")) return if_understood(error_of(json["error"]));
  if (json.contains("ready")) return if_understood(ready_of(json["ready"]));
  if (json.contains("turn")) return if_understood(turn_of(json["turn"]));
  return if_understood(progress_of(json));
}

std::optional<WorkerVersion> parse_version(std::string_view line) {
  const Json json = object_of(line);
  if (json.is_discarded()) return std::nullopt;
  const auto protocol = text_of(json, "protocol");
  const auto libtorch = text_of(json, "libtorch");
  if (!protocol || !libtorch) return std::nullopt;
  return WorkerVersion{word(*protocol), word(*libtorch), word(text_of(json, "cuda").value_or(""))};
}

}  // namespace flopmark
