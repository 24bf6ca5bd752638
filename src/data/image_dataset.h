#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "config/run_config.h"
#include "data/image_folder.h"
#include "data/image_model.h"
#include "flopmark/dataset.h"

namespace flopmark {

/// ImageNet's, as torchvision's models expect it; of one channel the averages of the three.
Normalisation imagenet_normalisation(int64_t channels);

/// The pictures of a folder, decoded, resized (see picture_resize.h) and normalised in collate: in three
/// channels, or in one, the luma of ITU-R BT.601 (as Pillow's convert("L")).
class ImageDataset : public Dataset {
 public:
  struct Options {
    int64_t channels = 3;      ///< 1 or 3
    int64_t image_size = 224;  ///< height and width
  };
  ImageDataset(ImageFolder folder, const Options& options);
  int64_t size() const override { return static_cast<int64_t>(folder_.pictures.size()); }
  /// @throws Error 200 naming a picture that cannot be decoded.
  Batch collate(const std::vector<size_t>& indices) const override;
  Facts facts() const override;

 private:
  ImageFolder folder_;
  Options options_;
};

/// data.type images, listed whole and the first 10,000 pictures looked at. @throws Error 200: as
/// list_image_folder(); more classes than the model has; a model that takes no images.
std::unique_ptr<Dataset> make_image_dataset(const RunConfig& config);

}  // namespace flopmark
