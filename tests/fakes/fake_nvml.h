#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "hardware/nvml.h"

namespace flopmark {

/// What a fake device answers: the facts always, the readings and process lists one after the other, the last
/// one for ever.
struct FakeNvmlScript {
  NvmlFacts facts = {};
  std::vector<NvmlReading> readings = {{}};
  std::vector<std::optional<std::vector<NvmlProcess>>> processes = {std::nullopt};
  int reads = 0, lists = 0;  ///< how often it was asked
};

class FakeNvmlDevice : public NvmlDevice {
 public:
  explicit FakeNvmlDevice(FakeNvmlScript& script) : script_(script) {}
  NvmlFacts facts() override { return script_.facts; }
  NvmlReading read() override { return at(script_.readings, script_.reads++); }
  std::optional<size_t> list_processes(std::span<NvmlProcess> processes) override {
    const auto& listed = at(script_.processes, script_.lists++);
    if (!listed) return std::nullopt;
    for (size_t i = 0; i < std::min(listed->size(), processes.size()); ++i) processes[i] = (*listed)[i];
    return listed->size();
  }

 private:
  template <typename T>
  static const T& at(const std::vector<T>& list, int index) {
    return list[std::min(static_cast<size_t>(index), list.size() - 1)];
  }

  FakeNvmlScript& script_;
};

/// Devices in NVML's own order, which is not CUDA's. Each has the UUID and bus id of its facts.
class FakeNvml : public Nvml {
 public:
  std::vector<FakeNvmlScript> devices;
  std::optional<std::string> driver;

  std::optional<std::string> driver_version() override { return driver; }
  std::unique_ptr<NvmlDevice> device_by_uuid(const std::string& uuid) override {
    return device_where(&NvmlFacts::uuid, uuid);
  }
  std::unique_ptr<NvmlDevice> device_by_pci_bus_id(const std::string& pci_bus_id) override {
    return device_where(&NvmlFacts::pci_bus_id, pci_bus_id);
  }

 private:
  std::unique_ptr<NvmlDevice> device_where(std::optional<std::string> NvmlFacts::*member,
                                           const std::string& value) {
    for (FakeNvmlScript& script : devices) {
      if (script.facts.*member == value) return std::make_unique<FakeNvmlDevice>(script);
    }
    return nullptr;
  }
};

}  // namespace flopmark
