#include "report/environment_text.h"

#include <gmock/gmock.h>

#include "fakes/golden.h"
#include "hardware/environment_fields.h"
#include "report/text_layout.h"

namespace flopmark {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(EnvironmentText, ValuesComeInTheUnitThatFits) {
  Environment environment;
  environment.device_name = "NVIDIA H200";
  environment.device_max_clock_hz = 1.98e9;
  environment.device_power_limit_w = 700;
  environment.device_memory_bytes = int64_t{141} << 30;
  environment.ecc = true;
  environment.turbo = false;
  environment.cgroup_cpus = 3.5;
  environment.variables = {{"OMP_NUM_THREADS", "4"}};
  const std::string text = environment_text(environment);
  for (const char* line :
       {"device_name                 NVIDIA H200\n", "device_max_clock_hz         1.980 GHz\n",
        "device_power_limit_w        700.0 W\n", "device_memory_bytes         141.0 GiB\n",
        "ecc                         on\n", "turbo                       off\n",
        "cgroup_cpus                 3.500\n", "OMP_NUM_THREADS             4\n",
        "driver                      not available\n", "cgroup_memory_bytes         not available\n"}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
}

TEST(EnvironmentText, EveryFieldHasALineAndNoneIsWide) {
  const std::string text = environment_text({});
  for_each_environment_field([&](const char* key, auto) {
    if (std::string(key) == "variables") return;
    EXPECT_THAT(text, HasSubstr(std::string(key) + " ")) << key;
  });
  EXPECT_LE(testing::widest_line(text), kTextWidth);
}

TEST(EnvironmentText, NothingGetsAtTheTerminal) {
  Environment environment;
  environment.device_name = "evil\x1b[2J\nname\xff";
  environment.variables = {{"OMP_X", "\x1b]0;title\x07"}};
  const std::string text = environment_text(environment);
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  EXPECT_THAT(text, Not(HasSubstr("\x07")));
  EXPECT_THAT(text, Not(HasSubstr("\nname")));
}

}  // namespace
}  // namespace flopmark
