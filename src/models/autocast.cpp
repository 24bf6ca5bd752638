#include "models/autocast.h"

#include <ATen/autocast_mode.h>

namespace flopmark {

AutocastOptions AutocastOptions::current(torch::DeviceType device) {
  if (!at::autocast::is_autocast_available(device)) return {torch::kCPU, false};
  return {device, at::autocast::is_autocast_enabled(device), at::autocast::get_autocast_dtype(device)};
}

AutocastGuard::AutocastGuard(const AutocastOptions& options)
    : device_(options.device),
      enabled_before_(at::autocast::is_autocast_enabled(options.device)),
      dtype_before_(at::autocast::get_autocast_dtype(options.device)) {
  at::autocast::set_autocast_enabled(device_, options.enabled);
  at::autocast::set_autocast_dtype(device_, options.dtype);
  at::autocast::increment_nesting();
}

AutocastGuard::~AutocastGuard() {
  if (at::autocast::decrement_nesting() == 0) {
    at::autocast::clear_cache();
  }
  at::autocast::set_autocast_dtype(device_, dtype_before_);
  at::autocast::set_autocast_enabled(device_, enabled_before_);
}

}  // namespace flopmark
