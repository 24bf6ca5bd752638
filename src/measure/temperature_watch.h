#pragma once

#include <deque>
#include <optional>

namespace flopmark {

/// The device's temperature in degrees Celsius; absent where it cannot be read.
class Thermometer {
 public:
  virtual ~Thermometer() = default;
  virtual std::optional<double> temperature_c() = 0;
};

/// Decides whether a temperature has settled: it moves less than 1 degree in 10 s. Sensors give whole degrees
/// and flicker between two, so movement is not the span but the trend: twice the difference of the means of
/// the two halves of the last 10 s, which for a steady slope is the change over the 10 s.
class TemperatureWatch {
 public:
  static constexpr double kWindow_s = 10, kLimit_c = 1;

  /// A reading at `time_s`, which never goes back.
  void add(double time_s, double temperature_c);
  /// Change over the last 10 s, degrees; absent before there are 10 s of readings.
  std::optional<double> movement_c() const;
  /// movement_c() is known and below 1 in size.
  bool settled() const;

 private:
  struct Reading {
    double time_s, temperature_c;
  };
  std::deque<Reading> readings_;  ///< the last 10 s, and one before
};

}  // namespace flopmark
