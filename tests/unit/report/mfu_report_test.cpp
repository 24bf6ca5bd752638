#include "report/mfu_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fakes/golden.h"

namespace flopmark {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

Peak peak_by_hand(double flop_per_s) {
  Peak peak;
  peak.flop_per_s = flop_per_s;
  peak.precision = "bf16";
  peak.source = "by_hand";
  return peak;
}

/// Tiny LLaMA, 640 tokens/s per device on 4 devices: 448,266,240 FLOP/s by matmul_full.
MfuSubject tiny_subject() {
  MfuSubject subject;
  subject.model = "llama (llama-tiny)";
  subject.shape = {.layers = 2,
                   .heads = 4,
                   .head_size = 16,
                   .hidden_size = 64,
                   .sequence_length = 32,
                   .parameters = 125'248,
                   .matmul_parameters = 108'544,
                   .output_parameters = 16'384,
                   .parameters_without_input_embedding = 108'864};
  subject.peak = peak_by_hand(1e9);
  subject.devices = 4;
  subject.tokens_per_s_per_device = 640;
  subject.given = "2560 tokens/s in all";
  subject.checkpointing = "full";
  subject.hardware_rule = find_hardware_rule("blocks_exact");
  return subject;
}

nlohmann::ordered_json convention_of(const nlohmann::ordered_json& document, const std::string& key) {
  for (const auto& row : document.at("conventions")) {
    if (row.at("convention") == key) return row;
  }
  ADD_FAILURE() << "no " << key;
  return {};
}

TEST(MfuJson, FiguresByHand) {
  const auto document = mfu_json(tiny_subject());
  const auto exact = convention_of(document, "matmul_full");
  EXPECT_EQ(exact.at("model_flop_per_token"), 700'416);
  EXPECT_DOUBLE_EQ(exact.at("hardware_flop_per_token").get<double>(), 901'120);
  EXPECT_DOUBLE_EQ(exact.at("model_flop_per_s").get<double>(), 448'266'240);
  EXPECT_DOUBLE_EQ(exact.at("hardware_flop_per_s").get<double>(), 576'716'800);
  EXPECT_DOUBLE_EQ(exact.at("mfu_ratio").get<double>(), 0.44826624);
  EXPECT_DOUBLE_EQ(exact.at("hfu_ratio").get<double>(), 0.5767168);
  EXPECT_EQ(exact.at("difference_ratio"), 0.0);
  const auto palm = convention_of(document, "palm_all");
  EXPECT_NEAR(palm.at("difference_ratio").get<double>(), 800'640.0 / 700'416 - 1, 1e-15);
  EXPECT_EQ(document.at("conventions").size(), flop_conventions().size());
  EXPECT_EQ(document.at("exact_convention"), "matmul_full");
  EXPECT_EQ(document.at("status"), "ok");
}

TEST(MfuJson, OneDeviceAndAllHaveTheirOwnNames) {  // public case A14
  const auto document = mfu_json(tiny_subject());
  const auto exact = convention_of(document, "matmul_full");
  EXPECT_DOUBLE_EQ(exact.at("model_flop_per_s_all_devices").get<double>(), 4 * 448'266'240.0);
  EXPECT_DOUBLE_EQ(exact.at("hardware_flop_per_s_all_devices").get<double>(), 4 * 576'716'800.0);
  const auto& throughput = document.at("throughput");
  EXPECT_EQ(throughput.at("tokens_per_s_per_device"), 640);
  EXPECT_EQ(throughput.at("tokens_per_s"), 2560);
  EXPECT_EQ(throughput.at("samples_per_s"), 80);
  EXPECT_EQ(throughput.at("samples_per_s_per_device"), 20);
  EXPECT_EQ(document.at("devices"), 4);
}

TEST(MfuJson, WithoutAPeakSharesAreNullAndTheReasonStands) {  // public cases A10, A11
  MfuSubject subject = tiny_subject();
  subject.peak = {};
  subject.peak.source = "none";
  subject.peak.reason = "no peak on file for \"X\"";
  const auto document = mfu_json(subject);
  for (const auto& row : document.at("conventions")) {
    EXPECT_TRUE(row.at("mfu_ratio").is_null());
    EXPECT_TRUE(row.at("hfu_ratio").is_null());
    EXPECT_GT(row.at("model_flop_per_s").get<double>(), 0);
  }
  EXPECT_TRUE(document.at("peak").at("flop_per_s").is_null());
  EXPECT_EQ(document.at("peak").at("reason"), "no peak on file for \"X\"");
  EXPECT_EQ(document.at("status"), "ok");
  const std::string text = mfu_table(subject, TableStyle::text);
  EXPECT_THAT(text, HasSubstr("peak      n/a: no peak on file for \"X\"\n"));
  EXPECT_THAT(text, ContainsRegex("matmul_full .* n/a +n/a +exact\n"));
}

TEST(MfuTable, AboveThePeakIsSaidToBeImpossible) {  // public case A13
  MfuSubject subject = tiny_subject();
  subject.peak = peak_by_hand(500e6);  // matmul_full: MFU 89.65 %, HFU 115.34 %
  const std::string text = mfu_table(subject, TableStyle::text);
  EXPECT_THAT(text,
              HasSubstr("\nINVALID   above 100 % is impossible (MFU 102.48 % by palm_all, HFU 115.59 % "));
  const auto document = mfu_json(subject);
  const auto why = document.at("warnings").at(0).at("text").get<std::string>();
  EXPECT_THAT(why, HasSubstr("HFU 115.34 % by matmul_full"));
  EXPECT_THAT(why, HasSubstr("Used: 640.0 tokens/s per device on 4 devices, peak 500.0 MFLOP/s"));
  EXPECT_EQ(document.at("status"), "invalid");
  EXPECT_EQ(document.at("warnings").at(0).at("code"), "not_believable");
  EXPECT_THAT(mfu_table(tiny_subject(), TableStyle::text), Not(HasSubstr("INVALID")));
}

TEST(MfuTable, KeepsToTheTextWidthWhateverTheNames) {
  MfuSubject subject = tiny_subject();
  subject.model = "llama (" + std::string(80, 'x') + "\x1b[31m)";
  const std::string text = mfu_table(subject, TableStyle::text);
  EXPECT_LE(testing::widest_line(text), 100u);
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  EXPECT_THAT(mfu_table(subject, TableStyle::markdown), Not(HasSubstr("\x1b")));
}

TEST(RateTable, AsTheIssueHasIt) {
  const RateSubject subject{{100e12, 130e12}, peak_by_hand(312e12), 1};
  const std::string text = rate_table(subject, TableStyle::text);
  EXPECT_THAT(text, ContainsRegex("\nMFU +32.1 %  model 100.0 TFLOP/s / peak 312.0 TFLOP/s\n"));
  EXPECT_THAT(text, ContainsRegex("\nHFU +41.7 %  hardware 130.0 TFLOP/s / peak 312.0 TFLOP/s\n"));
  const auto document = rate_json(subject);
  EXPECT_NEAR(document.at("mfu_ratio").get<double>(), 0.3205128, 1e-7);
  EXPECT_NEAR(document.at("hfu_ratio").get<double>(), 0.4166667, 1e-7);
  EXPECT_EQ(document.at("status"), "ok");
}

TEST(RateTable, UnknownAndImpossible) {
  const RateSubject no_hardware{{100e12, {}}, peak_by_hand(312e12), 1};
  EXPECT_TRUE(rate_json(no_hardware).at("hfu_ratio").is_null());
  EXPECT_TRUE(rate_json(no_hardware).at("hardware_flop_per_s_all_devices").is_null());
  EXPECT_THAT(rate_table(no_hardware, TableStyle::text), ContainsRegex("\nHFU +n/a  not given"));
  const RateSubject too_fast{{100e12, 400e12}, peak_by_hand(312e12), 1};
  EXPECT_THAT(rate_table(too_fast, TableStyle::text),
              HasSubstr("\nINVALID   above 100 % is impossible (HFU 128.21 %)"));
  EXPECT_EQ(rate_json(too_fast).at("status"), "invalid");
}

MfuCase tiny_case(const std::string& id) {
  MfuCase row;
  row.id = id;
  row.shape = tiny_subject().shape;
  row.devices = 4;
  row.peak_flop_per_s = 1e9;
  row.tokens_per_s_per_device = 640;
  row.convention = find_flop_convention("MATMUL_FULL");
  row.hardware_rule = find_hardware_rule("FOUR_THIRDS");
  return row;
}

TEST(CaseJson, IsByIdUnderTheRowsOwnRules) {
  MfuCase second = tiny_case("a");
  second.convention = find_flop_convention("LLMC");
  second.hardware_rule = nullptr;
  const auto document = case_json({tiny_case("b"), second});
  EXPECT_EQ(document.begin().key(), "b");  // the file's order
  const auto& first = document.at("b");
  EXPECT_DOUBLE_EQ(first.at("mfu_ratio").get<double>(), 0.44826624);
  EXPECT_DOUBLE_EQ(first.at("hfu_ratio").get<double>(), 0.44826624 * 4 / 3);
  EXPECT_DOUBLE_EQ(first.at("model_flop_per_s").get<double>(), 448'266'240);
  EXPECT_DOUBLE_EQ(first.at("hardware_flop_per_s").get<double>(), 597'688'320);
  EXPECT_EQ(first.at("formula"), "MATMUL_FULL");
  EXPECT_EQ(first.at("hfu_formula"), "FOUR_THIRDS");
  const auto& other = document.at("a");
  EXPECT_DOUBLE_EQ(other.at("mfu_ratio").get<double>(), 776'064 * 640 / 1e9);
  EXPECT_TRUE(other.at("hfu_ratio").is_null());
  EXPECT_TRUE(other.at("hardware_flop_per_s").is_null());
  EXPECT_TRUE(other.at("hfu_formula").is_null());
}

TEST(CaseTable, PrintsEachFigureWithItsRule) {
  const std::string text = case_table({tiny_case("one")}, TableStyle::text);
  EXPECT_THAT(text, ContainsRegex("\none +44.83 % +59.77 % +0.00 +0.00 +MATMUL_FULL +FOUR_THIRDS\n"));
  EXPECT_THAT(text, ContainsRegex("\n  MATMUL_FULL +6 Nmm \\+ 12 L H Q T"));
  EXPECT_THAT(text, ContainsRegex("\n  FOUR_THIRDS +4/3 of model FLOPs"));
  EXPECT_THAT(text, Not(HasSubstr("LLMC")));
  MfuCase fast = tiny_case("fast|one");
  fast.peak_flop_per_s = 1e8;
  EXPECT_THAT(case_table({fast}, TableStyle::text),
              HasSubstr("INVALID   fast|one: above 100 % is impossible"));
  EXPECT_THAT(case_table({fast}, TableStyle::markdown), HasSubstr("| fast\\|one |"));
  EXPECT_EQ(case_json({fast}).at("fast|one").at("status"), "invalid");
}

}  // namespace
}  // namespace flopmark
