#include "unit/cli/cli_fixture.h"

namespace flopmark {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class DataCommandTest : public CliTest {};

TEST_F(DataCommandTest, TokenizesAndTellsWhatCameOfIt) {
  write("a.txt", "To be, or not to be");
  const auto made = flopmark({"data", "tokenize", "a.txt", "--output", "a.bin"});
  EXPECT_EQ(made.exit_code, 0) << made.err;
  EXPECT_EQ(made.out,
            "a.bin: 19 ids, one per byte, format llmc\nits config lines: flopmark data inspect a.bin\n");
  EXPECT_EQ(read("a.bin").size(), 1024u + 2 * 19);
  const auto told = flopmark({"data", "inspect", "a.bin"});
  EXPECT_EQ(told.exit_code, 0) << told.err;
  EXPECT_EQ(told.out,
            "a.bin\n"
            "what     token file, 16-bit ids with llm.c's header\n"
            "samples  1 of 18 tokens\n"
            "tokens   19\n"
            "ids      32 to 116\n"
            "config\n"
            "{\n"
            "  \"data\": {\n"
            "    \"format\": \"llmc\",\n"
            "    \"path\": \"" +
                (work_ / "a.bin").string() +
                "\",\n"
                "    \"sequence_length\": 18,\n"
                "    \"type\": \"tokens\"\n"
                "  },\n"
                "  \"model\": {\n"
                "    \"preset\": \"llama-tiny\"\n"
                "  }\n"
                "}\n");
}

// The lines that inspect prints are a config that flopmark accepts.
TEST_F(DataCommandTest, TheConfigLinesWork) {
  write("a.txt", std::string(400, 'x'));
  ASSERT_EQ(flopmark({"data", "tokenize", "a.txt", "--output", "a.bin", "--format", "raw-uint16"}).exit_code,
            0);
  for (const char* file : {"a.txt", "a.bin"}) {
    const auto told = flopmark({"data", "inspect", file, "--format", "json"});
    ASSERT_EQ(told.exit_code, 0) << told.err;
    const auto answer = nlohmann::json::parse(told.out);
    write("lines.json", answer.at("config").dump());
    EXPECT_EQ(flopmark({"run", "lines.json", "--dry-run"}).exit_code, 0) << file;
    EXPECT_EQ(answer.at("tokens"), 400) << file;
    EXPECT_EQ(answer.at("low_id"), 'x') << file;
  }
}

TEST_F(DataCommandTest, NothingIsOverwritten) {
  write("a.txt", "abc");
  write("a.bin", "old");
  const auto refused = flopmark({"data", "tokenize", "a.txt", "--output", "a.bin"});
  EXPECT_EQ(refused.exit_code, 200);
  EXPECT_THAT(refused.err, HasSubstr("a.bin exists: --force overwrites it"));
  EXPECT_EQ(read("a.bin"), "old");
  EXPECT_EQ(flopmark({"data", "tokenize", "a.txt", "--output", "a.bin", "--force"}).exit_code, 0);
  EXPECT_EQ(flopmark({"data", "tokenize", "a.txt"}).exit_code, 200);
  EXPECT_EQ(flopmark({"data", "tokenize", "none.txt", "--output", "b.bin"}).exit_code, 200);
  EXPECT_EQ(flopmark({"data", "tokenize", "a.txt", "--output", "no/b.bin"}).exit_code, 202);
}

TEST_F(DataCommandTest, WhatCannotBeInspectedIs200) {
  const auto missing = flopmark({"data", "inspect", "none"});
  EXPECT_EQ(missing.exit_code, 200);
  EXPECT_THAT(missing.err, HasSubstr("none: no such file or folder"));
  write("empty.bin", "");
  EXPECT_EQ(flopmark({"data", "inspect", "empty.bin"}).exit_code, 200);
  EXPECT_EQ(flopmark({"data", "inspect"}).exit_code, 200);
}

TEST_F(DataCommandTest, WhatIsNoDataIsSaid) {
  write("model.pkl", "\x80\x02]q.");
  const auto told = flopmark({"data", "inspect", "model.pkl"});
  EXPECT_EQ(told.exit_code, 0);
  EXPECT_THAT(told.out, AllOf(HasSubstr("Python pickle, which is never opened"), HasSubstr("none reads it")));
}

}  // namespace
}  // namespace flopmark
