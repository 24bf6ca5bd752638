#include "measure/temperature_watch.h"

#include <cmath>

namespace flopmark {

void TemperatureWatch::add(double time_s, double temperature_c) {
  readings_.push_back({time_s, temperature_c});
  while (readings_.size() > 1 && readings_[1].time_s <= time_s - kWindow_s) {
    readings_.pop_front();
  }
}

std::optional<double> TemperatureWatch::movement_c() const {
  if (readings_.empty() || readings_.back().time_s - readings_.front().time_s < kWindow_s) {
    return std::nullopt;
  }
  const double middle_s = readings_.back().time_s - kWindow_s / 2;
  double earlier_c = 0, later_c = 0;
  int earlier = 0, later = 0;
  for (const Reading& reading : readings_) {
    (reading.time_s <= middle_s ? earlier_c : later_c) += reading.temperature_c;
    ++(reading.time_s <= middle_s ? earlier : later);
  }
  return 2 * (later_c / later - earlier_c / earlier);
}

bool TemperatureWatch::settled() const {
  const auto movement = movement_c();
  return movement && std::abs(*movement) < kLimit_c;
}

}  // namespace flopmark
