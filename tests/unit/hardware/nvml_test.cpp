#include "hardware/nvml.h"

#include <gmock/gmock.h>

#include "fakes/fake_nvml.h"

namespace flopmark {
namespace {

NvmlFacts facts_at(const std::string& uuid, const std::string& bus_id, const std::string& name) {
  NvmlFacts facts;
  facts.uuid = uuid;
  facts.pci_bus_id = bus_id;
  facts.name = name;
  return facts;
}

/// Two boards in the order of their slots; CUDA numbers the second one 0.
FakeNvml two_devices() {
  FakeNvml nvml;
  nvml.devices.push_back({.facts = facts_at("GPU-aaaa", "00000000:3B:00.0", "slow one")});
  nvml.devices.push_back({.facts = facts_at("GPU-bbbb", "00000000:5E:00.0", "fast one")});
  return nvml;
}

std::string name_at(Nvml& nvml, const DeviceAddress& address) {
  const auto device = find_device(nvml, address);
  return device ? device->facts().name.value_or("nameless") : "none";
}

TEST(Nvml, DevicesInSwappedOrderAreToldApart) {
  FakeNvml nvml = two_devices();
  EXPECT_EQ(name_at(nvml, {"bbbb", "0000:5e:00.0"}), "fast one");
  EXPECT_EQ(name_at(nvml, {"aaaa", "0000:3b:00.0"}), "slow one");
}

TEST(Nvml, TheBusIdIsEnoughHoweverItIsWritten) {
  FakeNvml nvml = two_devices();
  for (const char* bus_id : {"0000:5e:00.0", "00000000:5E:00.0", "0000:5E:00.0", ":5e:00.0"}) {
    EXPECT_EQ(name_at(nvml, {std::nullopt, bus_id}), "fast one") << bus_id;
  }
  EXPECT_EQ(name_at(nvml, {"unknown", "0000:5e:00.0"}), "fast one");
}

TEST(Nvml, NeverAnotherDevice) {
  FakeNvml nvml = two_devices();
  EXPECT_EQ(name_at(nvml, {"cccc", "0000:af:00.0"}), "none");
  EXPECT_EQ(name_at(nvml, {}), "none");
  EXPECT_EQ(name_at(nvml, {"", ""}), "none");
}

TEST(Nvml, AnInstanceIsFoundBeforeItsBoard) {
  FakeNvml nvml = two_devices();
  nvml.devices.push_back({.facts = facts_at("MIG-bbbb", "", "instance")});
  nvml.devices[1].facts.uuid = "GPU-dddd";
  EXPECT_EQ(name_at(nvml, {"bbbb", "0000:5e:00.0"}), "instance");
}

TEST(Nvml, ReasonsHaveABitAndANameOfTheirOwn) {
  uint64_t bits = 0;
  for (const ThrottleReason& reason : throttle_reasons()) {
    EXPECT_EQ(bits & reason.bit, 0u) << reason.name;
    EXPECT_EQ(reason.bit & (reason.bit - 1), 0u) << reason.name;
    bits |= reason.bit;
  }
  EXPECT_EQ(bits, 0x1FFu);
}

TEST(Nvml, FactsGoIntoTheEnvironmentAndUnknownOnesLeaveItAlone) {
  Environment environment;
  environment.device_uuid = "from elsewhere";
  environment.ecc = true;
  NvmlFacts facts;
  facts.max_clock_hz = 1.98e9;
  facts.application_clock_hz = 1.83e9;
  facts.power_limit_w = 700;
  facts.mig = true;
  facts.mig_profile = "3g.20gb";
  facts.memory_bytes = 20;
  add_device_facts(environment, facts);
  EXPECT_EQ(environment.device_uuid, "from elsewhere");
  EXPECT_EQ(environment.ecc, true);
  EXPECT_EQ(environment.device_max_clock_hz, 1.98e9);
  EXPECT_EQ(environment.device_application_clock_hz, 1.83e9);
  EXPECT_EQ(environment.device_power_limit_w, 700);
  EXPECT_EQ(environment.mig_profile, "3g.20gb");
  EXPECT_EQ(environment.device_memory_bytes, 20);
  EXPECT_EQ(environment.persistence_mode, std::nullopt);
}

}  // namespace
}  // namespace flopmark
