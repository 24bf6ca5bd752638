#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "launch/launch.h"
#include "launch/line_splitter.h"
#include "launch/signal_watch.h"
#include "launch/worker_process.h"
#include "measure/json_fields.h"

namespace flopmark {
namespace {

constexpr const char* kWorkerName = "flopmark-worker";
constexpr const char* kAdvice =
    "build it (target flopmark-worker, which needs LibTorch), or name it in the environment variable "
    "FLOPMARK_WORKER";
constexpr int kPollInterval_ms = 20;
constexpr size_t kAnswerBytes = 262144;

/// Why `path` cannot be run; empty if it can.
std::string fault_of(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return "does not exist";
  if (!std::filesystem::is_regular_file(path, error)) return "is not a file";
  if (::access(path.c_str(), X_OK) != 0) return "may not be executed";
  return "";
}

std::filesystem::path named_worker(const std::filesystem::path& path, const char* named_by) {
  if (const std::string fault = fault_of(path); !fault.empty()) {
    throw usage_error(fmt::format("the worker {} ({}) {}; {}", path.string(), named_by, fault, kAdvice));
  }
  return std::filesystem::absolute(path);
}

/// What a worker that was asked something wrote until it ended or its time was up.
struct WorkerAnswer {
  std::vector<std::string> lines;
  std::string trouble;  ///< empty if it ended well
};

std::string trouble_of(const ExitStatus& status) {
  if (status.signal != 0) return "ended by " + signal_name(status.signal);
  if (status.code != 0) return fmt::format("ended with exit code {}", status.code);
  return "";
}

WorkerAnswer ask_worker(const std::filesystem::path& worker, std::vector<std::string> question,
                        std::chrono::duration<double> timeout) {
  WorkerAnswer talk;
  SignalWatch signals;
  question.insert(question.begin(), worker.string());
  WorkerProcess process(question);
  LineSplitter splitter(kWorkerLineLimitBytes);
  const auto take = [&talk](const std::string& line) { talk.lines.push_back(line); };
  const auto give_up = std::chrono::steady_clock::now() + timeout;
  size_t bytes = 0;
  for (bool last = false; !last && talk.trouble.empty();) {
    pollfd watched[] = {
        {signals.fd(), POLLIN, 0}, {process.end().get(), POLLIN, 0}, {process.log().get(), POLLIN, 0}};
    ::poll(watched, std::size(watched), kPollInterval_ms);
    last = process.ended();
    ReadResult read;
    if (process.log()) read = read_available(process.log(), kAnswerBytes);
    splitter.add(read.bytes, take);
    if (read.ended) process.log().close();
    bytes += read.bytes.size();
    if (!signals.take().empty()) throw Error(ExitCode::interrupted, "interrupted");
    if (bytes > kAnswerBytes) talk.trouble = "wrote far more than an answer";
    if (std::chrono::steady_clock::now() > give_up) {
      talk.trouble = fmt::format("did not answer within {:g} s", timeout.count());
    }
  }
  const ExitStatus status = process.finish();
  splitter.finish(take);
  if (talk.trouble.empty()) talk.trouble = trouble_of(status);
  return talk;
}

[[noreturn]] void refuse_answer(const std::filesystem::path& worker, const char* what,
                                const WorkerAnswer& answer) {
  LogTail log;
  for (const std::string& line : answer.lines) log.add(line + "\n");
  std::string text = fmt::format(
      "the worker {} does not say its {}: `{} --{}` {}", worker.string(), what, worker.filename().string(),
      what, answer.trouble.empty() ? fmt::format("printed no {} line", what) : answer.trouble);
  for (const std::string& line : log.lines()) text += "\n  " + line;
  throw usage_error(text);
}

std::vector<TensorFacts> tensors_from_json(const nlohmann::json& list) {
  std::vector<TensorFacts> tensors;
  for (const nlohmann::json& entry : list) {
    TensorFacts facts{.name = text_field(entry, "name"),
                      .dtype = text_field(entry, "dtype"),
                      .shape = {},
                      .low = {},
                      .high = {}};
    for (const nlohmann::json& size : array_field(entry, "shape")) facts.shape.push_back(size.get<int64_t>());
    if (entry.at("low").is_number_integer()) {
      facts.low = entry.at("low").get<int64_t>();
      facts.high = entry.at("high").get<int64_t>();
    }
    tensors.push_back(std::move(facts));
  }
  return tensors;
}

}  // namespace

WorkerVersion ask_worker_version(const std::filesystem::path& worker, std::chrono::duration<double> timeout) {
  const WorkerAnswer answer = ask_worker(worker, {"--version"}, timeout);
  for (const std::string& line : answer.lines) {
    if (!answer.trouble.empty()) break;
    if (auto version = parse_version(line)) return *version;
  }
  refuse_answer(worker, "version", answer);
}

Environment ask_worker_environment(const std::filesystem::path& worker, const std::string& device,
                                   std::chrono::duration<double> timeout) {
  const WorkerAnswer answer = ask_worker(worker, {"--environment", "--device", device}, timeout);
  for (const std::string& line : answer.lines) {
    if (!answer.trouble.empty()) break;
    try {
      return environment_from_json(nlohmann::json::parse(line));
    } catch (const std::exception&) {
      continue;  // a library's own words
    }
  }
  refuse_answer(worker, "environment", answer);
}

TensorAnswer ask_worker_tensors(const std::filesystem::path& worker, const std::string& file,
                                std::chrono::duration<double> timeout) {
  const WorkerAnswer answer =
      ask_worker(worker, {"--tensors", std::filesystem::absolute(file).string()}, timeout);
  for (const std::string& line : answer.lines) {
    if (!answer.trouble.empty()) break;
    const nlohmann::json json = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
    if (!json.is_object()) continue;  // a library's own words
    if (json.contains("error")) return {.tensors = {}, .refusal = text_field(json, "error")};
    if (json.contains("tensors")) return {.tensors = tensors_from_json(json.at("tensors")), .refusal = ""};
  }
  refuse_answer(worker, "tensors", answer);
}

std::filesystem::path find_worker(const std::filesystem::path& given) {
  if (!given.empty()) return named_worker(given, "as given");
  const char* variable = std::getenv("FLOPMARK_WORKER");
  if (variable != nullptr && *variable != '\0') return named_worker(variable, "from FLOPMARK_WORKER");
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  std::filesystem::path beside = self.parent_path() / kWorkerName;
  const std::string fault = fault_of(beside);
  if (fault.empty()) return beside;
  throw usage_error(fmt::format("no worker to run: FLOPMARK_WORKER is not set, and {} {}; {}",
                                beside.string(), fault, kAdvice));
}

}  // namespace flopmark
