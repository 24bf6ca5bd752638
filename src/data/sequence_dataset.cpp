#include "data/sequence_dataset.h"

#include <fmt/format.h>
#include <torch/types.h>

#include <stdexcept>
#include <utility>

#include "data/file_facts.h"
#include "flopmark/counted.h"
#include "flopmark/error.h"

namespace flopmark {
namespace {

/// `length` ids from `source` and the `length` that follow one later, widened.
template <typename Id>
void widen(const std::byte* source, int64_t length, int64_t* ids, int64_t* next_ids) {
  const auto* from = reinterpret_cast<const Id*>(source);
  for (int64_t t = 0; t < length; ++t) {
    ids[t] = from[t];
    next_ids[t] = from[t + 1];
  }
}

void check_enough(const RunConfig& config, int64_t count) {
  const DataConfig& data = config.data;
  if ((count - 1) / data.sequence_length >= data.batch_size && count > 0) return;
  throw usage_error(fmt::format(
      "{}: {} {} less than one batch, which needs {} (data.batch_size {} x data.sequence_length {} + 1); "
      "use more data or lower one of them",
      data.path, counted(count, data.type == "text" ? "byte" : "token"), noun_for(count, "is", "are"),
      data.batch_size * data.sequence_length + 1, data.batch_size, data.sequence_length));
}

void check_vocabulary(const MappedFile& file, const TokenLayout& layout, const FileFacts& facts,
                      int64_t vocab_size) {
  if (facts.max_id < vocab_size) return;
  const std::optional<int64_t> position = first_id_from(file, layout, vocab_size);
  if (!position) return;
  throw usage_error(fmt::format(
      "{}: token id {} at position {} is outside the model's vocabulary of {} (the largest id in the file is "
      "{}); use data made with the model's tokenizer, or set model.vocab_size",
      file.path(), id_at(file, layout, *position), *position, vocab_size, facts.max_id));
}

}  // namespace

SequenceDataset::SequenceDataset(MappedFile file, TokenLayout layout, int64_t sequence_length, Facts facts)
    : file_(std::move(file)),
      layout_(std::move(layout)),
      sequence_length_(sequence_length),
      facts_(std::move(facts)) {
  if (sequence_length < 1 || layout_.count <= sequence_length) {
    throw std::invalid_argument("a sequence dataset needs at least one whole sequence");
  }
}

Batch SequenceDataset::collate(const std::vector<size_t>& indices) const {
  file_.check_unchanged();
  const auto rows = static_cast<int64_t>(indices.size());
  Batch batch;
  batch.inputs = {torch::empty({rows, sequence_length_}, torch::kInt64),
                  torch::empty({rows, sequence_length_}, torch::kInt64)};
  auto* ids = batch.inputs[0].mutable_data_ptr<int64_t>();
  auto* next_ids = batch.inputs[1].mutable_data_ptr<int64_t>();
  const std::byte* first = file_.bytes().data() + layout_.offset_bytes;
  for (const size_t index : indices) {
    const auto sample = static_cast<int64_t>(index);
    if (sample >= size()) throw std::out_of_range("sample index beyond the dataset");
    const std::byte* source = first + sample * sequence_length_ * layout_.element_bytes;
    (layout_.element_bytes == 1 ? widen<uint8_t> : widen<uint16_t>)(source, sequence_length_, ids, next_ids);
    ids += sequence_length_;
    next_ids += sequence_length_;
  }
  batch.samples = rows;
  batch.tokens = rows * sequence_length_;
  return batch;
}

std::unique_ptr<Dataset> make_sequence_dataset(const RunConfig& config) {
  const DataConfig& data = config.data;
  if (config.model.vocab_size < 1) {
    throw usage_error(
        fmt::format("data.type {} holds token ids, but model.type {} has no vocabulary; use a language "
                    "model, or data.type synthetic",
                    data.type, config.model.type));
  }
  MappedFile file(data.path);
  if (file.bytes().empty()) check_enough(config, 0);
  const TokenLayout layout =
      data.type == "text" ? text_layout(file.bytes()) : token_layout(file.bytes(), data.format, data.path);
  check_enough(config, layout.count);
  const FileFacts facts = file_facts(file, layout, default_cache_folder());
  check_vocabulary(file, layout, facts, config.model.vocab_size);
  return std::make_unique<SequenceDataset>(
      std::move(file), layout, data.sequence_length,
      Dataset::Facts{.path = data.path, .format = layout.format, .hash = facts.hash, .tokens = layout.count});
}

}  // namespace flopmark
