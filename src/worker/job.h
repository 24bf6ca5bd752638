#pragma once

#include <torch/types.h>

#include <functional>
#include <memory>

#include "config/rank_place.h"
#include "config/run_config.h"
#include "data/loader.h"
#include "flopmark/model.h"
#include "flopmark/record.h"
#include "measure/step_loop.h"
#include "models/models.h"
#include "train/torch_step.h"

namespace flopmark {

/// Makes the model to train. The worker passes make_model; tests pass one that injects faults at a stage and
/// step.
using ModelMaker =
    std::function<std::unique_ptr<TrainableModel>(const ModelShape&, const ModelOptions&, const LoopState&)>;

/// What a config trains, ready to take steps.
struct Job {
  torch::Device device = torch::kCPU;
  DataSummary data;
  std::unique_ptr<TrainableModel> model;
  std::unique_ptr<Loader> loader;
};

/// The config with the batch and, of synthetic data, the inputs that an exported model's file says, where it
/// leaves them to it.
/// @throws Error 200 if the file does not say them, or data.batch_size is another than its own; 125 as
/// ExportedModel.
RunConfig complete_config(RunConfig config);

/// Sets threads and the precision switches of this process. @returns the device that the config names.
/// @throws Error 200 if it is not here, or cannot compute in that precision.
torch::Device prepare_device(const RunConfig& config);

/// Prepares the device, checks the data, builds model and loader. `config` is complete. `place`: whose share
/// of the data.
/// @throws Error 200 for what is wrong in the config or its data.
Job make_job(const RunConfig& config, const ModelMaker& maker, const LoopState& state,
             const RankPlace& place = {});

/// Batch norm over one value per channel has no variance (public frameworks refuse it too). The last feature
/// map of a resnet or convnet is a 32nd of the image. `samples` of the data, which `ranks` share.
/// @throws Error 200 where a batch of some step would be so small.
void check_batch_norm(const RunConfig& config, int64_t samples, int64_t ranks);

/// How FLOPs are counted, by the config.
FlopObserver::Options counting_options(const RunConfig& config);

/// A job of the built-in models.
Job make_job(const RunConfig& config);

/// The step of a job, which gives up its model and loader. `group`: the ranks it trains with, connected; it
/// outlives the step. @throws Error 200 as make_exchange.
std::unique_ptr<TorchStep> make_step(Job& job, const RunConfig& config, RankGroup* group = nullptr);

}  // namespace flopmark
