// The real worker with a model that goes wrong on purpose: FLOPMARK_FAULT=<kind>@<stage>:<step>, step from 1.
// Kinds: throw, throw_int, crash, abort, kill, hang, oom, nan, watchdog (a thread throws as NCCL's does),
// sleep (50 ms in every forward, or as many as FLOPMARK_FAULT_MS says), allocate (256 MiB, let go at once).
// Of several ranks only that of FLOPMARK_FAULT_RANK goes wrong, or all.
#include <c10/util/Exception.h>
#include <torch/types.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <thread>

#include "launch/protocol.h"
#include "worker/worker_program.h"

namespace flopmark {
namespace {

std::string variable(const char* name, const char* otherwise) {
  const char* value = std::getenv(name);
  return value == nullptr ? otherwise : value;
}

/// The rank that the command line names; empty for one rank.
std::string rank_of(int argc, char** argv) {
  for (int i = 1; i + 1 < argc; ++i) {
    if (std::strcmp(argv[i], "--rank") == 0) return argv[i + 1];
  }
  return "";
}

struct Fault {
  std::string kind, stage;
  int64_t step = 0;
  std::chrono::milliseconds sleep{50};

  static Fault from_environment(const std::string& rank) {
    const bool is_mine = variable("FLOPMARK_FAULT_RANK", rank.c_str()) == rank;
    const std::string fault = is_mine ? variable("FLOPMARK_FAULT", "none@timed:1") : "none@timed:1";
    const size_t at = fault.find('@'), colon = fault.find(':');
    return {fault.substr(0, at), fault.substr(at + 1, colon - at - 1), std::stoll(fault.substr(colon + 1)),
            std::chrono::milliseconds(std::stoll(variable("FLOPMARK_FAULT_MS", "50")))};
  }
};

void touch_pages(size_t bytes) {
  std::vector<char> block(bytes);
  std::memset(block.data(), 1, block.size());
}

class FaultyModel : public TrainableModel {
 public:
  FaultyModel(std::unique_ptr<TrainableModel> inner, const LoopState& state, const std::string& rank)
      : inner_(std::move(inner)), state_(state), fault_(Fault::from_environment(rank)) {}

  torch::Tensor loss(const Batch& batch) override {
    const bool now = fault_.stage == stage_name(state_.stage.load()) && fault_.step == state_.step.load();
    if (fault_.kind == "sleep") {
      std::this_thread::sleep_for(fault_.sleep);
    } else if (now) {
      strike();
    }
    auto loss = inner_->loss(batch);
    return now && fault_.kind == "nan" ? loss * std::numeric_limits<double>::quiet_NaN() : loss;
  }
  std::vector<torch::Tensor> parameters() override { return inner_->parameters(); }

 private:
  void strike() const {
    const std::string& kind = fault_.kind;
    if (kind == "throw") {
      throw std::runtime_error("a fault on purpose");
    } else if (kind == "throw_int") {
      throw 42;
    } else if (kind == "crash") {
      ::raise(SIGSEGV);
    } else if (kind == "abort") {
      ::raise(SIGABRT);
    } else if (kind == "kill") {
      ::kill(::getpid(), SIGKILL);
    } else if (kind == "watchdog") {
      std::thread([] { TORCH_CHECK_WITH(DistBackendError, false, "ProcessGroupNCCL on purpose"); }).join();
    } else if (kind == "hang") {
      std::this_thread::sleep_for(std::chrono::hours(1));
    } else if (kind == "oom") {
      torch::empty({int64_t{1} << 50});
    } else if (kind == "allocate") {
      touch_pages(size_t{256} << 20);
    }
  }

  std::unique_ptr<TrainableModel> inner_;
  const LoopState& state_;
  Fault fault_;
};

}  // namespace
}  // namespace flopmark

int main(int argc, char** argv) {
  using namespace flopmark;
  const std::string rank = rank_of(argc, argv);
  return run_worker_program(argc, argv,
                            [&rank](const auto& shape, const auto& options, const LoopState& state) {
                              return std::make_unique<FaultyModel>(make_model(shape, options), state, rank);
                            });
}
