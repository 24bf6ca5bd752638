#include "worker/worker_program.h"

#include <torch/version.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <cstdio>
#include <optional>

#include "flopmark/error.h"
#include "launch/protocol.h"
#include "measure/samples.h"
#include "worker/describe_tensors.h"
#include "worker/device_facts.h"
#include "worker/session.h"

namespace flopmark {
namespace {

/// One line for the front-end: what it speaks and which LibTorch it runs.
void print_version() {
  WorkerVersion version{.protocol = kWorkerProtocol, .libtorch = TORCH_VERSION, .cuda = ""};
#ifdef FLOPMARK_CUDA
  version.cuda = cuda_runtime_version();
#endif
  std::fputs(format_version(version).c_str(), stdout);
}

/// One line for `flopmark env`.
int print_environment(const std::string& device) {
  try {
    const nlohmann::json environment = to_json(worker_environment(resolve_device(device)));
    std::puts(environment.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
    return 0;
  } catch (const Error& error) {
    std::fputs(error.what(), stderr);
    return static_cast<int>(error.code());
  }
}

/// The worker's part in a job of several ranks, as options; without --ranks it is alone.
struct RankOptions {
  RankPlace given;
  std::string master;

  void add_to(CLI::App& app) {
    auto* ranks = app.add_option("--ranks", given.ranks, "ranks of the job")->check(CLI::PositiveNumber);
    const auto add = [&](const char* name, int64_t& value, const char* text) {
      app.add_option(name, value, text)->check(CLI::NonNegativeNumber)->needs(ranks);
    };
    add("--rank", given.rank, "this one's number");
    add("--local-rank", given.local_rank, "its number on this host");
    add("--local-ranks", given.local_ranks, "ranks on this host");
    app.add_option("--meeting-file", given.meeting_file, "file in which the ranks of this host meet")
        ->needs(ranks);
    app.add_option("--master", master, "HOST:PORT at which the ranks meet")
        ->needs(ranks)
        ->excludes("--meeting-file");
    app.add_flag("--agent-store", given.agent_store, "torchrun's agent listens there")->needs(ranks);
    app.add_option("--meeting", given.meeting, "name of this meeting")->needs(ranks);
  }

  /// @throws CLI::ValidationError
  std::optional<RankPlace> place() const {
    if (given.ranks == 1) return std::nullopt;
    RankPlace place = given;
    if (place.meeting_file.empty()) set_master(place);
    if (place.rank >= place.ranks || place.local_rank >= place.local_ranks) {
      throw CLI::ValidationError("--rank", "a rank lies below the number of ranks");
    }
    return place;
  }

 private:
  /// The last colon parts host and port: an IPv6 address has more.
  void set_master(RankPlace& place) const {
    const size_t colon = master.rfind(':');
    const std::string port = colon == std::string::npos ? "" : master.substr(colon + 1);
    const char* const end = port.data() + port.size();
    const auto [rest, fault] = std::from_chars(port.data(), end, place.master_port);
    if (fault != std::errc() || rest != end || place.master_port < 1 || place.master_port > 65535) {
      throw CLI::ValidationError("--master", "HOST:PORT or --meeting-file is wanted");
    }
    place.master_address = master.substr(0, colon);
  }
};

}  // namespace

int run_worker_program(int argc, const char* const* argv, const ModelMaker& maker) {
  CLI::App app{"flopmark-worker: one launch of a measured training job; started by flopmark"};
  bool version = false, environment = false;
  std::string device = "auto", tensors;
  SessionOptions options;
  app.add_flag("--version", version, "protocol and LibTorch version, one line of JSON");
  app.add_flag("--environment", environment, "what it runs on, one line of JSON");
  app.add_option("--device", device, "with --environment: of this device");
  app.add_option("--tensors", tensors, "what tensors a .pt file holds, one line of JSON");
  app.add_option("--config", options.config, "resolved config");
  app.add_option("--samples", options.samples, "raw-sample file to write");
  app.add_option("--progress-fd", options.progress_fd, "open file descriptor for progress lines");
  app.add_option("--turns", options.turns, "takes turns with another worker, for so many timed steps")
      ->check(CLI::PositiveNumber);
  RankOptions ranks;
  ranks.add_to(app);
  app.add_flag("--count", options.count_only, "count the FLOPs of a step, measure nothing");
  app.add_flag("--measure-peak", options.measure_peak, "search the best matmul rate of the device");
  try {
    app.parse(argc, argv);
    options.place = ranks.place();
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : static_cast<int>(ExitCode::usage);
  }
  if (version) {
    print_version();
    return 0;
  }
  if (environment) return print_environment(device);
  if (!tensors.empty()) return std::puts(describe_tensors(tensors).c_str()) < 0 ? 1 : 0;
  if (options.config.empty() || options.samples.empty() || options.progress_fd < 0) {
    std::fputs("flopmark-worker is started by flopmark: use flopmark run CONFIG\n", stderr);
    return static_cast<int>(ExitCode::usage);
  }
  return run_session(options, maker);
}

}  // namespace flopmark
