#include "config/key_rows.h"

namespace flopmark {
namespace {

/// All but lstm, which is one operator.
KeyScope models_of_blocks() {
  return {.models = {"llama", "gpt2", "mlp", "resnet", "vit", "bert", "convnet", "mixtral"}};
}
KeyScope convolution_nets() {
  return {.models = {"resnet", "convnet"}};
}

}  // namespace

// A table, two or three lines a row, that clang-format would tear apart.
// clang-format off
std::vector<KeyRow> optimizer_rows() {
  return {
      {.path = "train.optimizer.type",
       .field = +[](RunConfig& c) -> auto& { return c.train.optimizer.type; },
       .doc = "Update rule.", .values = {"sgd", "adamw"}},
      {.path = "train.optimizer.lr", .field = +[](RunConfig& c) -> auto& { return c.train.optimizer.lr; },
       .doc = "Learning rate.", .other_names = {"learning_rate"}},
      {.path = "train.optimizer.weight_decay",
       .field = +[](RunConfig& c) -> auto& { return c.train.optimizer.weight_decay; },
       .doc = "Weight decay."},
      {.path = "train.optimizer.momentum",
       .field = +[](RunConfig& c) -> auto& { return c.train.optimizer.momentum; },
       .doc = "Momentum.", .numbers = kFraction, .scope = {.optimizers = {"sgd"}}},
      {.path = "train.optimizer.beta1",
       .field = +[](RunConfig& c) -> auto& { return c.train.optimizer.beta1; },
       .doc = "Decay of the gradient's running mean.", .numbers = kFraction,
       .scope = {.optimizers = {"adamw"}}, .other_names = {"betas"}},
      {.path = "train.optimizer.beta2",
       .field = +[](RunConfig& c) -> auto& { return c.train.optimizer.beta2; },
       .doc = "Decay of the squared gradient's running mean.", .numbers = kFraction,
       .scope = {.optimizers = {"adamw"}}, .other_names = {"betas"}},
      {.path = "train.optimizer.eps", .field = +[](RunConfig& c) -> auto& { return c.train.optimizer.eps; },
       .doc = "Added to the root of the squared gradient's running mean.", .numbers = kPositive,
       .scope = {.optimizers = {"adamw"}}, .other_names = {"epsilon"}},
  };
}

std::vector<KeyRow> train_rows() {
  return {
      {.path = "train.precision", .field = +[](RunConfig& c) -> auto& { return c.train.precision; },
       .doc = "Number type of matmuls; mixed: parameters in fp32; fp16-mixed scales the loss as well.",
       .values = {"fp32", "tf32", "bf16-mixed", "bf16", "fp16-mixed"}, .other_names = {"dtype", "amp"}},
      {.path = "train.gradient_accumulation",
       .field = +[](RunConfig& c) -> auto& { return c.train.gradient_accumulation; },
       .doc = "Micro-batches per optimizer step.", .integers = {1, kMaxCount},
       .other_names = {"gradient_accumulation_steps", "grad_accum", "accum"}},
      {.path = "train.gradient_clip", .field = +[](RunConfig& c) -> auto& { return c.train.gradient_clip; },
       .doc = "Largest total norm of the gradients; null: not clipped.", .numbers = kPositive,
       .other_names = {"grad_clip", "clip_grad_norm", "max_grad_norm"}},
      {.path = "train.activation_checkpointing",
       .field = +[](RunConfig& c) -> auto& { return c.train.activation_checkpointing; },
       .doc = "Blocks that run forward again in backward: none, all (full), or every k-th (a number k).",
       .integers = {1, 65536}, .scope = models_of_blocks(),
       .other_names = {"activation_checkpoint", "gradient_checkpointing", "recompute"}},
      {.path = "train.attention_kernel",
       .field = +[](RunConfig& c) -> auto& { return c.train.attention_kernel; },
       .doc = "auto: LibTorch chooses; unfused: every fused kernel off.",
       .values = {"auto", "fused", "unfused"}},
      {.path = "train.channels_last", .field = +[](RunConfig& c) -> auto& { return c.train.channels_last; },
       .doc = "Images and the weights of convolutions lie in memory with their channels last.",
       .scope = convolution_nets(), .other_names = {"memory_format"}},
      {.path = "train.seed", .field = +[](RunConfig& c) -> auto& { return c.train.seed; },
       .doc = "Seed of the initial parameters and of dropout."},
      {.path = "device", .field = +[](RunConfig& c) -> auto& { return c.device; },
       .doc = "Where to train; auto: the first GPU if there is one, else the CPU.",
       .form = {"^(auto|cpu|cuda|cuda:(0|[1-9][0-9]{0,2}))$", 8,
                "auto, cpu, cuda or cuda:N (such as cuda:1)"}},
  };
}
// clang-format on

}  // namespace flopmark
