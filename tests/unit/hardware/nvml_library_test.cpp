#include <gmock/gmock.h>

#include <cstdlib>

#include "hardware/nvml.h"

namespace flopmark {
namespace {

using testing::HasSubstr;

std::shared_ptr<Nvml> open_fake(const char* library = FLOPMARK_FAKE_NVML) {
  std::string reason;
  auto nvml = open_nvml(library, reason);
  EXPECT_TRUE(nvml) << reason;
  return nvml;
}

std::string refusal(const std::string& library) {
  std::string reason;
  EXPECT_FALSE(open_nvml(library, reason));
  return reason;
}

TEST(NvmlLibrary, ReadsADevice) {
  const auto nvml = open_fake();
  EXPECT_EQ(nvml->driver_version(), "580.65.06");
  const auto device = find_device(*nvml, {"11111111-0000-0000-0000-000000000000", std::nullopt});
  ASSERT_TRUE(device);
  const NvmlFacts facts = device->facts();
  EXPECT_EQ(facts.name, "NVIDIA One");
  EXPECT_EQ(facts.uuid, "GPU-11111111-0000-0000-0000-000000000000");
  EXPECT_EQ(facts.pci_bus_id, "00000000:3B:00.0");
  EXPECT_EQ(facts.mig, false);
  EXPECT_EQ(facts.mig_profile, std::nullopt);
  EXPECT_EQ(facts.persistence_mode, true);
  EXPECT_EQ(facts.memory_bytes, int64_t{80} << 30);
  EXPECT_EQ(facts.max_clock_hz, 1.98e9);
  EXPECT_EQ(facts.max_memory_clock_hz, 2.619e9);
  EXPECT_EQ(facts.application_clock_hz, 1.83e9);
  EXPECT_EQ(facts.power_limit_w, 700);
  const NvmlReading reading = device->read();
  EXPECT_EQ(reading.clock_hz, 1.5e9);
  EXPECT_EQ(reading.memory_clock_hz, 2.619e9);
  EXPECT_EQ(reading.power_w, 412.5);
  EXPECT_EQ(reading.temperature_c, 61);
  EXPECT_EQ(reading.throttle_reasons, 0x41u);
  EXPECT_NEAR(*reading.energy_j, 123.456, 1e-9);
  EXPECT_EQ(reading.memory_used_bytes, int64_t{1} << 30);
}

TEST(NvmlLibrary, NotSupportedIsAbsent) {
  const auto device = open_fake()->device_by_pci_bus_id("00000000:3B:00.0");
  ASSERT_TRUE(device) << "it outlives the library's own handle";
  EXPECT_EQ(device->facts().ecc, std::nullopt);
  EXPECT_EQ(device->facts().name, "NVIDIA One");
}

TEST(NvmlLibrary, AnInstanceHasItsBoardsSensorsButNotItsEnergy) {
  const auto nvml = open_fake();
  const auto device = find_device(*nvml, {"33333333-0000-0000-0000-000000000000", "0000:5e:00.0"});
  ASSERT_TRUE(device);
  const NvmlFacts facts = device->facts();
  EXPECT_EQ(facts.mig, true);
  EXPECT_EQ(facts.mig_profile, "3g.20gb");
  EXPECT_EQ(facts.pci_bus_id, "00000000:5E:00.0");
  EXPECT_EQ(facts.memory_bytes, int64_t{20} << 30);
  EXPECT_EQ(device->read().clock_hz, 1.98e9);
  EXPECT_EQ(device->read().temperature_c, 61);
  EXPECT_EQ(device->read().memory_used_bytes, int64_t{5} << 30);
  EXPECT_EQ(device->read().energy_j, std::nullopt);
  std::array<NvmlProcess, 4> processes;
  EXPECT_EQ(device->list_processes(processes), 2u);
  EXPECT_EQ(processes[1].busy_ratio, std::nullopt);
}

TEST(NvmlLibrary, ListsProcessesWithWhatIsKnownOfEach) {
  const auto nvml = open_fake();
  const auto device = nvml->device_by_pci_bus_id("00000000:3B:00.0");
  std::array<NvmlProcess, 4> processes;
  ASSERT_EQ(device->list_processes(processes), 2u);
  EXPECT_EQ(processes[0].pid, 1000);
  EXPECT_EQ(processes[0].memory_bytes, int64_t{3} << 30);
  EXPECT_EQ(processes[0].busy_ratio, 0.0);
  EXPECT_EQ(processes[1].pid, 2000);
  EXPECT_EQ(processes[1].memory_bytes, std::nullopt);
  EXPECT_EQ(processes[1].busy_ratio, 0.42);
  ASSERT_EQ(device->list_processes(processes), 2u);
  EXPECT_EQ(processes[1].busy_ratio, 0.0) << "an old sample counts once";
  EXPECT_EQ(nvml->device_by_pci_bus_id("00000000:5E:00.0")->list_processes(processes), 100u);
}

TEST(NvmlLibrary, AnOldOneLacksFieldsAndNothingElse) {
  const auto nvml = open_fake(FLOPMARK_FAKE_OLD_NVML);
  EXPECT_EQ(nvml->driver_version(), std::nullopt);
  const auto device = nvml->device_by_pci_bus_id("00000000:5E:00.0");
  ASSERT_TRUE(device);
  const NvmlFacts facts = device->facts();
  EXPECT_EQ(facts.name, "NVIDIA Two");
  EXPECT_EQ(facts.uuid, std::nullopt);
  EXPECT_EQ(facts.mig, std::nullopt);
  EXPECT_EQ(facts.power_limit_w, std::nullopt);
  const NvmlReading reading = device->read();
  EXPECT_EQ(reading.clock_hz, 1.98e9);
  EXPECT_EQ(reading.throttle_reasons, 0x24u) << "under the name it had before";
  EXPECT_EQ(reading.power_w, std::nullopt);
  EXPECT_EQ(reading.energy_j, std::nullopt);
  EXPECT_EQ(device->list_processes({}), std::nullopt);
}

TEST(NvmlLibrary, NoneIsNoCrash) {
  EXPECT_THAT(refusal("libno-such-nvml.so.1"), HasSubstr("NVML is not here (libno-such-nvml.so.1"));
  EXPECT_THAT(refusal("libm.so.6"), HasSubstr("libm.so.6 is no NVML"));
  setenv("FAKE_NVML_INIT", "18", 1);
  EXPECT_THAT(refusal(FLOPMARK_FAKE_NVML),
              HasSubstr("error 18 (9: no driver, 18: driver and library differ)"));
  unsetenv("FAKE_NVML_INIT");
}

TEST(NvmlLibrary, NoDeviceIsNull) {
  const auto nvml = open_fake();
  EXPECT_FALSE(nvml->device_by_uuid("GPU-44444444-0000-0000-0000-000000000000"));
  EXPECT_FALSE(nvml->device_by_pci_bus_id("00000000:AF:00.0"));
}

}  // namespace
}  // namespace flopmark
