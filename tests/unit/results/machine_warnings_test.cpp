#include <gmock/gmock.h>

#include "fakes/example_record.h"
#include "results/run_warnings.h"

namespace flopmark {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

RunRecord released_record() {
  RunRecord record = example_record();
  record.environment.worker_debug = false;
  record.environment.libtorch_build = "Release";
  record.environment.sanitizers = "none";
  record.ruler = Ruler{1000, 64, {1.0, 1.05}, {0.5, 0.5}};
  return record;
}

Warning only_warning(const RunRecord& record) {
  const auto warnings = machine_warnings(record);
  EXPECT_THAT(warnings, SizeIs(1));
  return warnings.empty() ? Warning{} : warnings[0];
}

TEST(MachineWarnings, NoneForAReleaseOnASteadyMachine) {
  EXPECT_THAT(machine_warnings(released_record()), IsEmpty());
  EXPECT_THAT(machine_warnings(RunRecord{}), IsEmpty()) << "what is not known is no warning";
}

TEST(MachineWarnings, DebugBuilds) {
  RunRecord record = released_record();
  record.environment.worker_debug = true;
  EXPECT_EQ(only_warning(record).code, "debug_build");
  EXPECT_THAT(only_warning(record).text, HasSubstr("the worker is a debug build"));
  record.environment.libtorch_build = "Debug";
  EXPECT_THAT(only_warning(record).text, HasSubstr("the worker and LibTorch are debug builds"));
  record.environment.worker_debug = false;
  EXPECT_THAT(only_warning(record).text,
              AllOf(HasSubstr("LibTorch is a debug build (Debug)"), HasSubstr("CMAKE_BUILD_TYPE=Release")));
  record.environment.libtorch_build = "RelWithDebInfo";
  EXPECT_THAT(machine_warnings(record), IsEmpty());
}

TEST(MachineWarnings, Sanitizers) {
  RunRecord record = released_record();
  record.environment.sanitizers = "address, undefined";
  EXPECT_EQ(only_warning(record).code, "sanitizer_build");
  EXPECT_THAT(only_warning(record).text, HasSubstr("(address, undefined)"));
}

TEST(MachineWarnings, AMachineThatMoved) {
  RunRecord record = released_record();
  record.ruler->matmul_s = {1.0, 1.25, 1.1};
  EXPECT_EQ(only_warning(record).code, "ruler_moved");
  EXPECT_THAT(only_warning(record).text, AllOf(HasSubstr("25 % above the fastest, of a memory copy 0 %")));
}

}  // namespace
}  // namespace flopmark
