#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "fakes/example_samples.h"
#include "measure/samples.h"

namespace flopmark {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::string samples_refusal(const nlohmann::json& json) {
  try {
    launch_samples_from_json(json);
  } catch (const std::exception& error) {
    return error.what();
  }
  return "nothing thrown";
}

LaunchSamples round_trip(const LaunchSamples& samples) {
  return launch_samples_from_json(nlohmann::json::parse(to_json(samples).dump()));
}

TEST(SamplesJson, RoundTripIsExact) {
  const LaunchSamples written = example_samples();
  const LaunchSamples read = round_trip(written);
  EXPECT_EQ(to_json(read), to_json(written));
  EXPECT_EQ(read.status, "failed");
  ASSERT_TRUE(read.failure);
  EXPECT_EQ(read.failure->kind, "out_of_memory");
  EXPECT_EQ(read.failure->phase, "timed");
  EXPECT_EQ(read.failure->step, 7);
  EXPECT_EQ(read.failure->text, written.failure->text);
  EXPECT_EQ(read.failure->rank, 3);
  EXPECT_EQ(read.failure->host, "gamma");
  EXPECT_EQ(read.environment.device_name, "Device X");
  EXPECT_EQ(read.environment.device_count, 2);
  EXPECT_EQ(read.environment.interconnect, "none");
  EXPECT_EQ(read.environment.cpu_logical, 8);
  EXPECT_EQ(read.environment.threads, 4);
  EXPECT_EQ(read.environment.variables, written.environment.variables);
  EXPECT_EQ(read.data.hash, "0123456789abcdef");
  EXPECT_EQ(read.data.tokens, 32000);
  EXPECT_EQ(read.data.model_hash, "fedcba9876543210");
  EXPECT_EQ(read.matmul_precision, "tf32");
  EXPECT_EQ(read.attention_kernel, "fused");
  EXPECT_EQ(read.parameters, 9'007'199'254'740'993);
}

TEST(SamplesJson, RoundTripOfTurns) {
  const LaunchSamples read = round_trip(example_samples());
  ASSERT_EQ(read.turns.size(), 2U);
  EXPECT_EQ(read.turns[0].steps, 1);
  EXPECT_EQ(read.turns[0].wall_s, 0.4);
  EXPECT_EQ(read.turns[0].queue_depth, 3);
  EXPECT_EQ(read.turns[1].wall_s, 1.0 / 7);
  EXPECT_EQ(read.turns[1].queue_depth, std::nullopt);
  LaunchSamples unknown = example_samples();
  unknown.turns[0].wall_s = kNan;
  EXPECT_THROW(to_json(unknown), std::logic_error);
}

TEST(SamplesJson, RoundTripOfRanks) {
  const LaunchSamples read = round_trip(example_samples());
  ASSERT_EQ(read.ranks.size(), 2U);
  const RankSamples& first = read.ranks[0];
  EXPECT_EQ(first.rank, 0);
  EXPECT_EQ(first.host, "alpha");
  EXPECT_EQ(first.device_name, "Device X");
  EXPECT_EQ(first.device_uuid, "GPU-1");
  EXPECT_EQ(first.step_s, read.timed.step_s);
  EXPECT_EQ(first.compute_s, 1.0 / 3);
  EXPECT_EQ(first.communication_s, 1.0 / 7);
  EXPECT_EQ(first.communication_exposed_s, 1.0 / 9);
  EXPECT_EQ(first.samples + first.tokens + first.images, 64 + 2048 + 3);
  EXPECT_EQ(first.communication_bytes, 1 << 20);
  EXPECT_EQ(first.memory_peak_bytes, 5);
  EXPECT_EQ(read.ranks[1].device_uuid, std::nullopt);
  EXPECT_EQ(read.ranks[1].memory_peak_bytes, std::nullopt);
  ASSERT_TRUE(read.communication);
  EXPECT_EQ(read.communication->backend, "nccl");
  EXPECT_EQ(read.communication->collective, "all_reduce");
  EXPECT_EQ(read.communication->exposed_ratio, 1.0 / 3);
}

TEST(SamplesJson, OneRankSaysNothingOfRanks) {
  LaunchSamples one = example_samples();
  one.ranks.clear();
  one.communication.reset();
  one.timed.phase_s[static_cast<size_t>(Phase::communication)].clear();
  one.failure->rank.reset();
  one.failure->host.reset();
  const nlohmann::json json = to_json(one);
  EXPECT_FALSE(json.contains("ranks") || json.contains("communication"));
  EXPECT_FALSE(json["timed"]["phase_s"].contains("communication"));
  EXPECT_FALSE(json["failure"].contains("rank") || json["failure"].contains("host"));
  EXPECT_TRUE(round_trip(one).ranks.empty());
  EXPECT_EQ(to_json(round_trip(one)), json);
}

TEST(SamplesJson, RefusesDamagedRanks) {
  const auto damaged = [](const char* pointer, const nlohmann::json& value) {
    nlohmann::json json = to_json(example_samples());
    json[nlohmann::json::json_pointer(pointer)] = value;
    return samples_refusal(json);
  };
  EXPECT_THAT(damaged("/ranks/0/rank", -1), testing::HasSubstr("key \"rank\" must be a whole number"));
  EXPECT_THAT(damaged("/ranks/1/step_s", nlohmann::json::array({1.0})),
              testing::HasSubstr("has 1 values for 2 steps"));
  EXPECT_THAT(damaged("/ranks/1/host", nullptr), testing::HasSubstr("key \"host\" must be a text"));
  EXPECT_THAT(damaged("/ranks", 2), testing::HasSubstr("key \"ranks\" must be a list"));
  EXPECT_THAT(damaged("/communication/exposed_ratio", 1.5), testing::HasSubstr("must be from 0 to 1"));
  EXPECT_THAT(damaged("/communication/backend", 1), testing::HasSubstr("key \"backend\" must be a text"));
  LaunchSamples unknown = example_samples();
  unknown.ranks[1].communication_s = kNan;
  EXPECT_THROW(to_json(unknown), std::logic_error);
}

TEST(SamplesJson, RoundTripOfMeasuredRatesAndDeviceUnits) {
  LaunchSamples written = example_samples();
  written.environment.sm_count = 132;
  written.environment.sm_clock_hz = 1980e6;
  written.matmul_rates = {{"bf16", {4096, 2048, 1024}, 7e14, 1.01, 15, 3.25}};
  const LaunchSamples read = round_trip(written);
  EXPECT_EQ(read.environment.sm_count, 132);
  EXPECT_EQ(read.environment.sm_clock_hz, 1980e6);
  ASSERT_EQ(read.matmul_rates.size(), 1U);
  const MatmulRate& rate = read.matmul_rates[0];
  EXPECT_EQ(rate.precision, "bf16");
  EXPECT_EQ(rate.shape.m, 4096);
  EXPECT_EQ(rate.shape.n, 2048);
  EXPECT_EQ(rate.shape.k, 1024);
  EXPECT_EQ(rate.flop_per_s, 7e14);
  EXPECT_EQ(rate.spread_ratio, 1.01);
  EXPECT_EQ(rate.blocks, 15);
  EXPECT_EQ(rate.timed_s, 3.25);
}

TEST(SamplesJson, RoundTripOfNumbersIsExactToTheLastBit) {
  const LaunchSamples written = example_samples();
  const LaunchSamples read = round_trip(written);
  EXPECT_EQ(read.warmup.step_s, written.warmup.step_s);
  EXPECT_EQ(read.warmup.steady, written.warmup.steady);
  EXPECT_EQ(read.warmup.reason, written.warmup.reason);
  EXPECT_EQ(read.timed.steps, 2);
  EXPECT_EQ(read.timed.step_s, written.timed.step_s);
  EXPECT_EQ(read.timed.phase_s, written.timed.phase_s);
  EXPECT_EQ(read.timed.wall_s, 0.7);
  EXPECT_EQ(read.timed.data_wait_host_s, 0.1);
  EXPECT_EQ(read.timed.samples, 128);
  EXPECT_EQ(read.timed.tokens, 4096);
  EXPECT_EQ(read.timed.images, 5);
  EXPECT_EQ(read.timed.losses, written.timed.losses);
  EXPECT_EQ(read.memory.allocated_bytes, 1);
  EXPECT_EQ(read.memory.reserved_bytes, 2);
  EXPECT_EQ(read.memory.device_used_bytes, 3);
  EXPECT_EQ(read.memory.host_bytes, 4);
  EXPECT_EQ(read.memory.load_host_bytes, 5);
  ASSERT_TRUE(read.flops);
  EXPECT_EQ(read.flops->hardware_flop(), 35);
  ASSERT_TRUE(read.conditions);
  EXPECT_EQ(read.conditions->samples, 12);
  EXPECT_EQ(read.conditions->device_clock_hz->median, 1.7e9);
  EXPECT_EQ(read.conditions->throttle_ratio, written.conditions->throttle_ratio);
  EXPECT_EQ(read.conditions->device_energy_j, 1.0 / 3);
  EXPECT_EQ(read.conditions->other_processes, 2);
  ASSERT_TRUE(read.ruler);
  EXPECT_EQ(read.ruler->matmul_flop, 268435456);
  EXPECT_EQ(read.ruler->copy_bytes, 67108864);
  EXPECT_EQ(read.ruler->matmul_s, written.ruler->matmul_s);
  EXPECT_EQ(read.ruler->copy_s, written.ruler->copy_s);
  EXPECT_EQ(read.zero_inputs, false);
  EXPECT_EQ(read.environment.worker_debug, false);
  EXPECT_EQ(read.environment.libtorch_build, "Release");
  EXPECT_EQ(read.environment.sanitizers, "none");
  EXPECT_EQ(read.environment.ecc, false);
  EXPECT_EQ(read.environment.device_power_limit_w, 700.5);
  EXPECT_EQ(read.environment.memory_bytes, 64);
}

TEST(SamplesJson, WhatIsAbsentStaysAbsent) {
  const LaunchSamples read = round_trip(LaunchSamples());
  EXPECT_EQ(read.status, "ok");
  EXPECT_FALSE(read.failure);
  EXPECT_FALSE(read.environment.device_name);
  EXPECT_FALSE(read.environment.cpu_logical);
  EXPECT_FALSE(read.data.path);
  EXPECT_FALSE(read.data.samples);
  EXPECT_FALSE(read.memory.host_bytes);
  EXPECT_FALSE(read.flops);
  EXPECT_FALSE(read.conditions);
  EXPECT_FALSE(read.ruler);
  EXPECT_FALSE(read.zero_inputs);
  EXPECT_FALSE(read.environment.ecc);
  LaunchSamples watched;
  watched.conditions = Conditions{};
  EXPECT_FALSE(round_trip(watched).conditions->throttle_ratio);
  watched.conditions->throttle_ratio.emplace();
  EXPECT_TRUE(round_trip(watched).conditions->throttle_ratio) << "no reason at all is knowledge";
  EXPECT_EQ(to_json(LaunchSamples())["memory"]["allocated_bytes"], nullptr);
  LaunchSamples failed;
  failed.failure = Failure{"error", "load", std::nullopt, "no such file"};
  EXPECT_FALSE(round_trip(failed).failure->step);
}

TEST(SamplesJson, LossesThatAreNotFiniteAreNullAndReadAsNan) {
  LaunchSamples samples = example_samples();
  samples.timed.losses = {kNan, kInfinity};
  EXPECT_EQ(to_json(samples)["timed"]["losses"].dump(), "[null,null]");
  EXPECT_THAT(round_trip(samples).timed.losses, testing::ElementsAre(testing::IsNan(), testing::IsNan()));
}

TEST(SamplesJson, ATimeThatIsNotFiniteIsRefused) {
  LaunchSamples samples = example_samples();
  samples.timed.step_s[1] = kNan;
  EXPECT_THROW(to_json(samples), std::logic_error);
  samples = example_samples();
  samples.timed.phase_s[2][0] = kInfinity;
  EXPECT_THROW(to_json(samples), std::logic_error);
  samples = example_samples();
  samples.timed.wall_s = -kInfinity;
  EXPECT_THROW(to_json(samples), std::logic_error);
  samples = example_samples();
  samples.timed.data_wait_host_s = kNan;
  EXPECT_THROW(to_json(samples), std::logic_error);
  samples = example_samples();
  samples.warmup.step_s[0] = kNan;
  EXPECT_THROW(to_json(samples), std::logic_error);
}

TEST(SamplesJson, RefusesWhatIsNotThisSchema) {
  EXPECT_EQ(samples_refusal(nlohmann::json::array()), "key \"schema\" is missing");
  nlohmann::json json = to_json(example_samples());
  json["schema"] = "flopmark.samples/2";
  EXPECT_EQ(samples_refusal(json),
            "key \"schema\" is \"flopmark.samples/2\", this program reads \"flopmark.samples/1\"");
}

TEST(SamplesJson, RefusesDamagedContentByKey) {
  nlohmann::json json = to_json(example_samples());
  json.erase("timed");
  EXPECT_EQ(samples_refusal(json), "key \"timed\" is missing");
  json = to_json(example_samples());
  json["timed"]["step_s"][0] = nullptr;
  EXPECT_EQ(samples_refusal(json), "key \"step_s\" must be a list of numbers");
  json = to_json(example_samples());
  json["timed"]["losses"][0] = "low";
  EXPECT_EQ(samples_refusal(json), "key \"losses\" must be a list of numbers and nulls");
  json = to_json(example_samples());
  json["timed"]["phase_s"]["forward"].push_back(1.0);
  EXPECT_EQ(samples_refusal(json), "key \"forward\" has 3 values for 2 steps");
  json = to_json(example_samples());
  json["timed"]["steps"] = 3;
  EXPECT_EQ(samples_refusal(json), "key \"step_s\" has 2 values for 3 steps");
  json = to_json(example_samples());
  json["conditions"]["device_clock_hz"]["max"] = "fast";
  EXPECT_EQ(samples_refusal(json), "key \"max\" must be a number, found \"fast\"");
  json = to_json(example_samples());
  json["environment"]["variables"] = nullptr;
  EXPECT_EQ(samples_refusal(json), "key \"variables\" must be an object");
  json = to_json(example_samples());
  json["flops"]["model_flop"] = 31;
  EXPECT_EQ(samples_refusal(json), "key \"model_flop\" is 31, but forward and backward add up to 30");
}

TEST(SamplesJson, PhasesAreNamed) {
  const nlohmann::json phases = to_json(example_samples())["timed"]["phase_s"];
  EXPECT_EQ(phases["data"][0], 1.0 / 7);
  EXPECT_EQ(phases["transfer"][0], 1.0 / 8);
  EXPECT_EQ(phases["forward"][0], 1.0 / 9);
  EXPECT_EQ(phases["backward"][0], 1.0 / 10);
  EXPECT_EQ(phases["communication"][0], 1.0 / 11);
  EXPECT_EQ(phases["optimizer"][0], 1.0 / 12);
  EXPECT_EQ(phases["other"][0], 1.0 / 13);
}

}  // namespace
}  // namespace flopmark
