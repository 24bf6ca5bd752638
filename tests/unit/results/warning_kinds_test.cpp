#include "results/warning_kinds.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>

namespace flopmark {
namespace {

using testing::Contains;
using testing::IsSubsetOf;

std::set<std::string> known_codes() {
  std::set<std::string> codes;
  for (const WarningKind& kind : warning_kinds()) codes.insert(kind.code);
  return codes;
}

/// The codes that record_peak and the *_warnings of src/results raise: the first text in braces of a
/// Warning, or of a list of them.
std::set<std::string> raised_codes() {
  std::set<std::string> codes;
  static const std::regex kRaised(R"((Warning\{|return \{\{|push_back\(\{)\s*"([a-z_]+)\")");
  for (const auto& entry : std::filesystem::directory_iterator(FLOPMARK_SOURCE_DIR "/src/results")) {
    const std::string file = entry.path().filename().string();
    if (!file.ends_with("_warnings.cpp") && file != "record_peak.cpp") continue;
    std::ifstream in(entry.path());
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    for (std::sregex_iterator at(text.begin(), text.end(), kRaised), end; at != end; ++at)
      codes.insert((*at)[2]);
  }
  return codes;
}

TEST(WarningKinds, AreSortedAndNamedOnce) {
  EXPECT_EQ(known_codes().size(), warning_kinds().size());
  EXPECT_TRUE(std::is_sorted(
      warning_kinds().begin(), warning_kinds().end(),
      [](const WarningKind& a, const WarningKind& b) { return std::string(a.code) < b.code; }));
}

TEST(WarningKinds, CoverWhatIsRaised) {
  const auto raised = raised_codes();
  EXPECT_THAT(raised, Contains("drift"));
  EXPECT_THAT(raised, Contains("no_commit"));
  EXPECT_THAT(raised, Contains("throttled"));
  EXPECT_THAT(raised, Contains("peak_clock"));
  EXPECT_THAT(raised, IsSubsetOf(known_codes()));
}

TEST(WarningKinds, SayWhatSpoilsABaseline) {
  for (const char* code : {"throttled", "device_shared", "dirty_tree", "sanitizer_build", "zero_inputs"})
    EXPECT_TRUE(spoils_baseline(code)) << code;
  for (const char* code : {"few_launches", "cpu_shared", "drift", "a_code_of_tomorrow", ""})
    EXPECT_FALSE(spoils_baseline(code)) << code;
}

}  // namespace
}  // namespace flopmark
