#include "stats/signed_rank.h"

#include <algorithm>
#include <map>
#include <mutex>

namespace flopmark {

SignedRank::SignedRank(size_t pairs) {
  const size_t largest = pairs * (pairs + 1) / 2;
  std::vector<double> probability(largest + 1, 0.0);
  probability[0] = 1;
  // After rank k: half of what was there stays (minus), half moves up by k (plus). From above, so that each
  // rank is used once.
  for (size_t rank = 1; rank <= pairs; ++rank) {
    for (size_t w = rank * (rank + 1) / 2; w + 1 > 0; --w) {
      probability[w] = 0.5 * (probability[w] + (w >= rank ? probability[w - rank] : 0.0));
    }
  }
  cumulative_.reserve(largest + 1);
  double sum = 0;
  for (const double share : probability) cumulative_.push_back(sum += share);
}

double SignedRank::lower_tail(size_t w) const {
  return w >= cumulative_.size() ? 1.0 : cumulative_[w];
}

std::optional<size_t> SignedRank::critical(double level) const {
  const auto above = std::upper_bound(cumulative_.begin(), cumulative_.end(), level);
  if (above == cumulative_.begin()) return std::nullopt;
  return static_cast<size_t>(above - cumulative_.begin()) - 1;
}

const SignedRank& signed_rank(size_t pairs) {
  static std::mutex mutex;
  static std::map<size_t, SignedRank> known;
  const std::lock_guard lock(mutex);
  return known.try_emplace(pairs, pairs).first->second;
}

WalshAverages::WalshAverages(const std::vector<double>& values) : pairs_(values.size()) {
  averages_.reserve(pairs_ * (pairs_ + 1) / 2);
  for (size_t i = 0; i < pairs_; ++i) {
    for (size_t j = i; j < pairs_; ++j) averages_.push_back((values[i] + values[j]) / 2);
  }
  std::sort(averages_.begin(), averages_.end());
}

double WalshAverages::estimate() const {
  const size_t count = averages_.size();
  return count % 2 == 1 ? averages_[count / 2] : (averages_[count / 2 - 1] + averages_[count / 2]) / 2;
}

std::optional<double> WalshAverages::lower_limit(double level) const {
  const auto critical = signed_rank(pairs_).critical(level);
  return critical ? std::optional(averages_[*critical]) : std::nullopt;
}

std::optional<double> WalshAverages::upper_limit(double level) const {
  const auto critical = signed_rank(pairs_).critical(level);
  return critical ? std::optional(averages_[averages_.size() - 1 - *critical]) : std::nullopt;
}

double WalshAverages::p_above(double shift) const {
  const auto not_above = std::upper_bound(averages_.begin(), averages_.end(), shift) - averages_.begin();
  return signed_rank(pairs_).lower_tail(static_cast<size_t>(not_above));
}

}  // namespace flopmark
