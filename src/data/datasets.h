#pragma once

#include <memory>

#include "config/run_config.h"
#include "flopmark/dataset.h"

namespace flopmark {

/// The dataset a config names, checked whole before training: readable, right format, ids inside the
/// vocabulary (file, position, id and vocabulary in the message), at least one batch
/// (batch x sequence + 1 tokens); a plug-in's is checked batch by batch (see CheckedDataset), the first also
/// against a built-in model (see check_model_batch). Facts of large files are cached by path, size, mtime and
/// inode under $XDG_CACHE_HOME/flopmark or ~/.cache/flopmark.
/// @throws Error 200; 125 for a plug-in.
std::unique_ptr<Dataset> make_dataset(const RunConfig& config);

}  // namespace flopmark
