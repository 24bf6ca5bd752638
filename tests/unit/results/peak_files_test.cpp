#include "results/peak_files.h"

#include <gmock/gmock.h>

#include <cstdlib>

#include "flopmark/error.h"
#include "unit/results/scratch_tree.h"

namespace flopmark {
namespace {

using testing::HasSubstr;

MeasuredPeak example_peak(const std::string& device, std::optional<int64_t> threads,
                          const std::string& precision, double flop_per_s) {
  MeasuredPeak peak;
  peak.device = device;
  peak.threads = threads;
  peak.precision = precision;
  peak.flop_per_s = flop_per_s;
  peak.spread_ratio = 1.25;
  peak.m = 1;
  peak.n = 2;
  peak.k = 3;
  peak.blocks = 15;
  peak.timed_s = 3.5;
  peak.time = "2026-01-02T03:04:05Z";
  peak.libtorch = "2.15.0";
  return peak;
}

/// Sets a variable, empty: unset, and puts the old one back.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) {
    const char* old = std::getenv(name);
    if (old != nullptr) old_ = old;
    value.empty() ? ::unsetenv(name) : ::setenv(name, value.c_str(), 1);
  }
  ~Variable() { old_ ? ::setenv(name_, old_->c_str(), 1) : ::unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
  std::optional<std::string> old_;
};

template <typename Work>
std::string refusal(const Work& work) {
  try {
    work();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return error.what();
  }
  ADD_FAILURE() << "not refused";
  return "";
}

TEST(MeasuredPeakFile, LiesInTheUsersDataFolder) {
  const Variable home("HOME", "/home/x");
  {
    const Variable own("FLOPMARK_DATA", "/own"), data("XDG_DATA_HOME", "/data");
    EXPECT_EQ(measured_peaks_path(), "/own/peaks-measured.json");
  }
  const Variable own("FLOPMARK_DATA", "");
  {
    const Variable data("XDG_DATA_HOME", "/data");
    EXPECT_EQ(measured_peaks_path(), "/data/flopmark/peaks-measured.json");
  }
  const Variable data("XDG_DATA_HOME", "");
  EXPECT_EQ(measured_peaks_path(), "/home/x/.local/share/flopmark/peaks-measured.json");
  const Variable nowhere("HOME", "");
  EXPECT_EQ(measured_peaks_path(), "");
}

TEST(MeasuredPeakFile, KeepsWhatItIsGivenAndWhatWasThere) {
  const ScratchFolder folder;
  const auto file = folder.root() / "new" / "peaks-measured.json";
  EXPECT_TRUE(read_measured_peaks(file).empty());
  keep_measured_peaks(
      file, {example_peak("CPU A", 2, "fp32", 1e11), example_peak("GPU", std::nullopt, "bf16", 7e14)});
  keep_measured_peaks(file,
                      {example_peak("CPU A", 4, "fp32", 2e11), example_peak("CPU A", 2, "fp32", 1.5e11)});
  const auto peaks = read_measured_peaks(file);
  ASSERT_EQ(peaks.size(), 3U);
  EXPECT_EQ(find_measured_peak(peaks, "CPU A", 2, "fp32")->flop_per_s, 1.5e11);
  EXPECT_EQ(find_measured_peak(peaks, "CPU A", 4, "fp32")->flop_per_s, 2e11);
  EXPECT_EQ(find_measured_peak(peaks, "CPU A", std::nullopt, "fp32"), nullptr);
  const MeasuredPeak* gpu = find_measured_peak(peaks, "GPU", std::nullopt, "bf16");
  ASSERT_NE(gpu, nullptr);
  EXPECT_EQ(derivation_of(*gpu), derivation_of(example_peak("GPU", std::nullopt, "bf16", 7e14)));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(file.parent_path()), {}), 1)
      << "a temporary was left";
}

TEST(MeasuredPeakFile, ACorruptOneIsNamedAndNotOverwritten) {
  const ScratchFolder folder;
  const std::string sound =
      R"({"schema": "flopmark.peaks-measured/1", "peaks": [{"device": "A", "threads": 2, "precision": "fp32",)"
      R"( "flop_per_s": 1e11, "spread_ratio": 1, "m": 1, "n": 1, "k": 1, "blocks": 1, "timed_s": 1, "time": "t",)"
      R"( "libtorch": ""}]})";
  EXPECT_EQ(read_measured_peaks(folder.write("sound.json", sound)).size(), 1U);
  const auto with = [&](const std::string& old_text, const std::string& text) {
    std::string changed = sound;
    return changed.replace(changed.find(old_text), old_text.size(), text);
  };
  const std::pair<std::string, std::string> faults[] = {
      {"", "is empty"},
      {"{\"schema\":", "1:"},
      {"[]", "schema"},
      {with("measured/1", "measured/2"), "measured/2"},
      {with("\"peaks\": [", "\"peaks\": 7, \"x\": ["), "\"peaks\""},
      {with("1e11", "-1"), "entry 1: key \"flop_per_s\""},
      {with("1e11", "\"fast\""), "flop_per_s"},
      {with("\"threads\": 2", "\"threads\": 2.5"), "threads"},
      {with("\"device\": \"A\", ", ""), "device"}};
  for (const auto& [text, part] : faults) {
    const auto file = folder.write("peaks-measured.json", text);
    for (const auto& work :
         {std::function<void()>([&] { read_measured_peaks(file); }),
          std::function<void()>([&] { keep_measured_peaks(file, {example_peak("B", 1, "fp32", 1)}); })}) {
      const std::string message = refusal(work);
      EXPECT_THAT(message, HasSubstr(file.string())) << text;
      EXPECT_THAT(message, HasSubstr(part)) << text;
    }
    EXPECT_EQ(file_text(file), text);
  }
  EXPECT_THAT(refusal([&] { read_measured_peaks(folder.root()); }), HasSubstr("folder"));
  EXPECT_THAT(refusal([&] { keep_measured_peaks("", {}); }), HasSubstr("FLOPMARK_DATA"));
}

TEST(PeaksFile, FaultsNameTheFileAndThePlace) {
  const ScratchFolder folder;
  EXPECT_THAT(refusal([&] { read_peaks_file(folder.root() / "none.json"); }), HasSubstr("none.json"));
  EXPECT_THAT(refusal([&] { read_peaks_file(folder.write("comma.json", "[{},]")); }),
              HasSubstr("comma.json:1:"));
  EXPECT_THAT(
      refusal([&] { read_peaks_file(folder.write("twice.json", R"([{"name": "A", "name": "B"}])")); }),
      HasSubstr("given twice"));
  EXPECT_THAT(refusal([&] { read_peaks_file(folder.write("key.json", R"([{"name": "A"}])")); }),
              HasSubstr("key.json: row 1 (\"A\"): key \"match\" is missing"));
}

TEST(PeakSources, AreTheTableWithOwnRowsAndWhatWasMeasured) {
  const ScratchFolder folder;
  const Variable data("FLOPMARK_DATA", folder.root().string());
  keep_measured_peaks(measured_peaks_path(), {example_peak("CPU A", 2, "fp32", 1e11)});
  const auto own = folder.write(
      "own.json",
      R"([{"name": "Nova", "match": ["Vendor Nova 9000"], "peak_tflops": {"bf16": 400}, "source": ["x"]}])");
  const PeakSources sources = load_peak_sources(own);
  EXPECT_EQ(find_peak(sources, {.name = "Vendor Nova 9000"}, "bf16").flop_per_s, 400e12);
  EXPECT_EQ(find_peak(sources, {.name = "NVIDIA H200"}, "bf16").flop_per_s, 989.4e12);
  EXPECT_EQ(find_peak(sources, {.name = "CPU A", .is_cpu = true, .threads = 2}, "fp32").flop_per_s, 1e11);
  EXPECT_TRUE(sources.cpu.has_value());
  EXPECT_EQ(load_peak_sources("").table.size(), peak_table().size());
}

}  // namespace
}  // namespace flopmark
