#include "launch/protocol.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>

namespace flopmark {
namespace {

template <typename Kind>
Kind parsed(const std::string& line) {
  const WorkerLine answer = parse_worker_line(line);
  EXPECT_TRUE(std::holds_alternative<Kind>(answer)) << line;
  return std::holds_alternative<Kind>(answer) ? std::get<Kind>(answer) : Kind{};
}

TEST(Protocol, LinesAreWhatTheContractSays) {
  EXPECT_EQ(format_hello(), "{\"protocol\":\"flopmark.worker/1\"}\n");
  EXPECT_EQ(format_progress({"timed", 7, 50, 12.5}),
            "{\"phase\":\"timed\",\"samples_per_s\":12.5,\"step\":7,\"steps\":50}\n");
  EXPECT_EQ(
      format_failure({"nan_loss", "timed", 3, "loss is nan"}),
      "{\"failure\":{\"kind\":\"nan_loss\",\"phase\":\"timed\",\"step\":3,\"text\":\"loss is nan\"}}\n");
  EXPECT_EQ(format_failure({"error", "load", std::nullopt, "x"}),
            "{\"failure\":{\"kind\":\"error\",\"phase\":\"load\",\"step\":null,\"text\":\"x\"}}\n");
  EXPECT_EQ(format_ready({0.25}), "{\"ready\":{\"step_s\":0.25}}\n");
  EXPECT_EQ(format_turn({5, 0.5, 3}), "{\"turn\":{\"queue_depth\":3,\"steps\":5,\"wall_s\":0.5}}\n");
  EXPECT_EQ(format_worker_error({ExitCode::usage, "bad"}), "{\"error\":{\"code\":200,\"text\":\"bad\"}}\n");
  EXPECT_EQ(format_version({"flopmark.worker/1", "2.15.0", ""}),
            "{\"cuda\":null,\"libtorch\":\"2.15.0\",\"protocol\":\"flopmark.worker/1\"}\n");
}

TEST(Protocol, ReadsBackWhatItWrites) {
  EXPECT_EQ(parsed<WorkerHello>(format_hello()).protocol, kWorkerProtocol);
  const auto update = parsed<ProgressUpdate>(format_progress({"warmup", 3, 0, 0.25}));
  EXPECT_EQ(update.phase, "warmup");
  EXPECT_EQ(update.step, 3);
  EXPECT_EQ(update.steps, 0);
  EXPECT_EQ(update.samples_per_s, 0.25);
  EXPECT_EQ(parsed<WorkerReady>(format_ready({1.0 / 3})).step_s, 1.0 / 3);
  const auto turn = parsed<TurnSamples>(format_turn({5, 1.0 / 7, 0}));
  EXPECT_EQ(turn.steps, 5);
  EXPECT_EQ(turn.wall_s, 1.0 / 7);
  EXPECT_EQ(turn.queue_depth, 0);
  EXPECT_EQ(parsed<TurnSamples>(format_turn({1, 0, std::nullopt})).queue_depth, std::nullopt);
  const auto failure = parsed<Failure>(format_failure({"out_of_memory", "warmup", 2, "line 1\nline \"2\""}));
  EXPECT_EQ(failure.kind, "out_of_memory");
  EXPECT_EQ(failure.phase, "warmup");
  EXPECT_EQ(failure.step, 2);
  EXPECT_EQ(failure.text, "line 1\nline \"2\"");
  EXPECT_EQ(parsed<Failure>(format_failure({"error", "load", std::nullopt, ""})).step, std::nullopt);
  const auto error = parsed<WorkerError>(format_worker_error({ExitCode::cannot_judge, "no model.pt"}));
  EXPECT_EQ(error.code, ExitCode::cannot_judge);
  EXPECT_EQ(error.text, "no model.pt");
  const auto version = parse_version(format_version({"p/1", "2.15.0", "12.6"}));
  ASSERT_TRUE(version);
  EXPECT_EQ(version->protocol + " " + version->libtorch + " " + version->cuda, "p/1 2.15.0 12.6");
}

TEST(Protocol, AFailureMayNameARank) {
  Failure lost{kPeerLost, "timed", 3, "no word from rank 1"};
  lost.rank = 1;
  lost.host = "n04";
  EXPECT_EQ(format_failure(lost),
            "{\"failure\":{\"host\":\"n04\",\"kind\":\"peer_lost\",\"phase\":\"timed\",\"rank\":1,\"step\":3,"
            "\"text\":\"no word from rank 1\"}}\n");
  const auto failure = parsed<Failure>(format_failure(lost));
  EXPECT_EQ(failure.kind, kPeerLost);
  EXPECT_EQ(failure.rank, 1);
  EXPECT_EQ(failure.host, "n04");
  EXPECT_EQ(
      parsed<Failure>(R"({"failure":{"kind":"error","phase":"load","step":1,"text":"","rank":-1,"host":7}})")
          .rank,
      std::nullopt);
}

TEST(Protocol, RefusesWhatIsNotALineOfIt) {
  for (const char* line : {
           "",
           "\n",
           "hello",
           "[]",
           "7",
           "null",
           "{",
           "{}",
           "{\"protocol\":1}",
           "{\"phase\":\"timed\"}",
           R"({"phase":"timed","step":-1,"steps":5,"samples_per_s":1})",
           R"({"phase":"timed","step":1.5,"steps":5,"samples_per_s":1})",
           R"({"phase":"timed","step":9223372036854775808,"steps":5,"samples_per_s":1})",
           R"({"phase":"timed","step":1,"steps":5,"samples_per_s":-1})",
           R"({"phase":"timed","step":1,"steps":5,"samples_per_s":1e999})",
           R"({"phase":7,"step":1,"steps":5,"samples_per_s":1})",
           R"({"ready":{}})",
           R"({"ready":0.1})",
           R"({"ready":{"step_s":0}})",
           R"({"ready":{"step_s":1e999}})",
           R"({"turn":{"steps":1,"wall_s":0.1}})",
           R"({"turn":{"steps":1,"wall_s":0.1,"queue_depth":-1}})",
           R"({"turn":{"steps":1.5,"wall_s":0.1,"queue_depth":null}})",
           R"({"turn":{"steps":1,"wall_s":-0.1,"queue_depth":null}})",
           R"({"failure":7})",
           R"({"failure":{"kind":"crash"}})",
           R"({"error":{"code":200}})",
           R"({"error":{"code":0,"text":"x"}})",
           R"({"error":{"code":130,"text":"x"}})",
           R"({"error":[]})",
           "{\"protocol\":\"\xFF\"}",
       }) {
    EXPECT_TRUE(std::holds_alternative<NotUnderstood>(parse_worker_line(line))) << line;
  }
  EXPECT_EQ(parsed<NotUnderstood>("\x1b[2Jjunk").text, "junk");
  EXPECT_FALSE(parse_version("torch warning"));
  EXPECT_FALSE(parse_version("{\"protocol\":\"p\"}"));
  EXPECT_FALSE(parse_version(""));
}

TEST(Protocol, UnknownKindIsAnErrorAndTextsArePrintable) {
  const auto failure = parsed<Failure>(
      R"({"failure":{"kind":"new","phase":"\u001b[31mtimed","step":null,"text":"a\u001b[0m\u0007b\nc"}})");
  EXPECT_EQ(failure.kind, "error");
  EXPECT_EQ(failure.phase, "timed");
  EXPECT_EQ(failure.text, "ab\nc");
}

TEST(Protocol, SurvivesAnyBytes) {
  std::mt19937 random(7);
  const std::string good =
      format_failure({"crash", "timed", 3, "text"}) + format_progress({"timed", 1, 2, 3});
  for (int round = 0; round < 2000; ++round) {
    std::string line = good;
    for (int change = 0; change < 3; ++change) line[random() % line.size()] = static_cast<char>(random());
    parse_worker_line(line.substr(random() % line.size()));
  }
  parse_worker_line(std::string(kWorkerLineLimitBytes, '['));
  parse_worker_line(std::string(kWorkerLineLimitBytes * 4, '{'));
  std::string deep;
  for (int i = 0; i < 9000; ++i) deep += "{\"a\":";
  parse_worker_line(deep);
}

TEST(Protocol, LongTextsStayBelowTheLimit) {
  const std::string huge(1000 * 1000, '"');
  EXPECT_LT(format_failure({huge, huge, 1, huge}).size(), kWorkerLineLimitBytes);
  EXPECT_LT(format_worker_error({ExitCode::usage, huge + "\xFF"}).size(), kWorkerLineLimitBytes);
  EXPECT_LT(format_progress({huge, 1, 1, std::numeric_limits<double>::infinity()}).size(),
            kWorkerLineLimitBytes);
  EXPECT_LT(format_failure({"error", "load", 1, std::string(1000 * 1000, '\n')}).size(),
            kWorkerLineLimitBytes);
  EXPECT_LT(format_failure({"error", "load", 1, std::string(1000 * 1000, '\x80')}).size(),
            kWorkerLineLimitBytes);
}

TEST(Protocol, CrashLineIsAFailureLine) {
  char line[256];
  const size_t size = format_crash_line(line, sizeof line, "timed", 120);
  EXPECT_EQ(
      std::string(line, size),
      "{\"failure\":{\"kind\":\"crash\",\"phase\":\"timed\",\"step\":120,\"text\":\"worker crashed\"}}\n");
  const auto failure = parsed<Failure>(std::string(line, size));
  EXPECT_EQ(failure.step, 120);
  EXPECT_EQ(parsed<Failure>(std::string(line, format_crash_line(line, sizeof line, "load", 0))).step,
            std::nullopt);
  EXPECT_GT(format_crash_line(line, sizeof line, "warmup", std::numeric_limits<int64_t>::max()), 0U);
  EXPECT_EQ(format_crash_line(line, 20, "timed", 1), 0U);
}

}  // namespace
}  // namespace flopmark
