// LibTorch's header of Gloo is empty without this; it is so built that the library holds it.
#define USE_C10D_GLOO
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>

#include <cstdlib>
#include <sstream>

#include "train/rank_backend.h"

namespace flopmark {
namespace {

using Group = c10d::ProcessGroupGloo;

/// As PyTorch does it: one device per interface that the variable names, separated by commas.
void add_named_interfaces(const char* names, Group::Options& options) {
  std::istringstream list(names);
  for (std::string name; std::getline(list, name, ',');) {
    if (!name.empty()) options.devices.push_back(Group::createDeviceForInterface(name));
  }
}

}  // namespace

c10::intrusive_ptr<c10d::Backend> make_gloo_backend(const RankBackendOptions& options) {
  auto gloo = Group::Options::create(options.timeout);
  if (const char* names = std::getenv("GLOO_SOCKET_IFNAME")) add_named_interfaces(names, *gloo);
  if (gloo->devices.empty()) {
    gloo->devices.push_back(options.address.empty() ? Group::createDefaultDevice()
                                                    : Group::createDeviceForHostname(options.address));
  }
  gloo->threads = static_cast<int>(gloo->devices.size()) * 2;  // as PyTorch has it
  return c10::make_intrusive<Group>(options.store, options.rank, options.ranks, gloo);
}

}  // namespace flopmark
