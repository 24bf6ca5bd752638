#pragma once

#include <torch/csrc/distributed/c10d/Store.hpp>

#include "train/rank_store.h"

namespace flopmark {

struct RankStore::State {
  c10::intrusive_ptr<c10d::Store> store;
};

}  // namespace flopmark
