#include "data/image_dataset.h"

#include <fmt/format.h>
#include <torch/types.h>

#include <filesystem>
#include <stdexcept>
#include <utility>

#include "data/picture.h"
#include "data/picture_resize.h"
#include "flopmark/counted.h"
#include "flopmark/error.h"

namespace flopmark {
namespace {

/// Values from 0 to 255, pixel by pixel, into planes of normalised ones.
void normalise(const std::vector<float>& rgb, const Normalisation& by, int64_t channels, float* planes) {
  const size_t pixels = rgb.size() / 3;
  for (size_t channel = 0; channel < static_cast<size_t>(channels); ++channel) {
    const float scale = 1 / (255 * by.deviation[channel]), shift = by.mean[channel] / by.deviation[channel];
    float* plane = planes + channel * pixels;
    for (size_t i = 0; i < pixels; ++i) {
      const float* pixel = rgb.data() + 3 * i;
      const float value =
          channels == 3 ? pixel[channel] : 0.299F * pixel[0] + 0.587F * pixel[1] + 0.114F * pixel[2];
      plane[i] = value * scale - shift;
    }
  }
}

}  // namespace

Normalisation imagenet_normalisation(int64_t channels) {
  if (channels == 1) return {{0.449F}, {0.226F}};
  return {{0.485F, 0.456F, 0.406F}, {0.229F, 0.224F, 0.225F}};
}

ImageDataset::ImageDataset(ImageFolder folder, const Options& options)
    : folder_(std::move(folder)), options_(options) {
  if ((options.channels != 1 && options.channels != 3) || options.image_size < 1) {
    throw std::invalid_argument("an image dataset makes 1 or 3 channels");
  }
}

Batch ImageDataset::collate(const std::vector<size_t>& indices) const {
  const auto rows = static_cast<int64_t>(indices.size());
  const int64_t size = options_.image_size, image_values = options_.channels * size * size;
  const Normalisation normalisation = imagenet_normalisation(options_.channels);
  Batch batch;
  batch.inputs = {torch::empty({rows, options_.channels, size, size}, torch::kFloat32),
                  torch::empty({rows}, torch::kInt64)};
  auto* image = batch.inputs[0].mutable_data_ptr<float>();
  auto* label = batch.inputs[1].mutable_data_ptr<int64_t>();
  for (const size_t index : indices) {
    const ImageFolder::Picture& source = folder_.pictures.at(index);
    const Picture picture = read_picture((std::filesystem::path(folder_.path) / source.path).string());
    normalise(resize_and_crop(picture, size), normalisation, options_.channels, image);
    *label++ = source.label;
    image += image_values;
  }
  batch.samples = rows;
  batch.images = rows;
  return batch;
}

Dataset::Facts ImageDataset::facts() const {
  Facts facts;
  facts.path = folder_.path;
  facts.format = folder_.classes.empty()
                     ? "flat folder, one class"
                     : "folder of " + counted(std::ssize(folder_.classes), "class", "classes");
  if (folder_.skipped > 0) *facts.format += ", " + counted(folder_.skipped, "other file") + " skipped";
  facts.hash = folder_.hash;
  return facts;
}

std::unique_ptr<Dataset> make_image_dataset(const RunConfig& config) {
  ImageFolder folder = list_image_folder(config.data.path);
  check_image_model(config, folder.label_count());
  check_pictures(folder);
  return std::make_unique<ImageDataset>(
      std::move(folder),
      ImageDataset::Options{.channels = config.data.image_channels, .image_size = config.data.image_size});
}

}  // namespace flopmark
