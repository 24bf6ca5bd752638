#include "data/image_model.h"

#include <fmt/format.h>

#include "flopmark/counted.h"
#include "flopmark/error.h"

namespace flopmark {

void check_image_model(const RunConfig& config, int64_t classes) {
  const ModelShape& model = config.model;
  if (model.vocab_size > 0) {
    throw usage_error(
        fmt::format("data.type {} holds images, but model.type {} reads token ids; use a model for images",
                    config.data.type, model.type));
  }
  if (model.classes > 0 && classes > model.classes) {
    throw usage_error(fmt::format("{}: has {}, but model.classes is {}; set model.classes to {} or more",
                                  config.data.path, counted(classes, "class", "classes"), model.classes,
                                  classes));
  }
}

}  // namespace flopmark
