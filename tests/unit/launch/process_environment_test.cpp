#include "launch/process_environment.h"

#include <gmock/gmock.h>

#include <cstdlib>

namespace flopmark {
namespace {

using testing::Contains;
using testing::Each;
using testing::Not;
using testing::StartsWith;

TEST(ProcessEnvironment, ChangesAddsAndLeavesOut) {
  ::setenv("FLOPMARK_TEST_KEPT", "kept=as it is", 1);
  ::setenv("FLOPMARK_TEST_CHANGED", "old", 1);
  ::setenv("FLOPMARK_TEST_LEFT_OUT", "old", 1);
  const auto lines = process_environment(
      {{"FLOPMARK_TEST_CHANGED", "new"}, {"FLOPMARK_TEST_ADDED", "1"}, {"FLOPMARK_TEST_ADDED", "2"}},
      {"FLOPMARK_TEST_LEFT_OUT", "FLOPMARK_TEST_NEVER_SET"});
  EXPECT_THAT(lines, Contains("FLOPMARK_TEST_KEPT=kept=as it is"));
  EXPECT_THAT(lines, Contains("FLOPMARK_TEST_CHANGED=new"));
  EXPECT_THAT(lines, Contains("FLOPMARK_TEST_ADDED=2"));
  EXPECT_THAT(lines, Not(Contains("FLOPMARK_TEST_CHANGED=old")));
  EXPECT_THAT(lines, Each(Not(StartsWith("FLOPMARK_TEST_LEFT_OUT"))));
  for (const char* name : {"FLOPMARK_TEST_KEPT", "FLOPMARK_TEST_CHANGED", "FLOPMARK_TEST_LEFT_OUT"})
    ::unsetenv(name);
}

}  // namespace
}  // namespace flopmark
