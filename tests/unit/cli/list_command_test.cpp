#include "unit/cli/cli_fixture.h"

namespace flopmark {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;

class ListCommandTest : public CliTest {};

TEST_F(ListCommandTest, JsonHasPresetsWithParameters) {
  const auto result = flopmark({"list", "--format", "json"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const auto list = nlohmann::json::parse(result.out);
  int64_t tiny = 0;
  int64_t gpt2 = 0;
  for (const auto& model : list.at("models")) {
    for (const auto& preset : model.at("presets")) {
      if (preset.at("name") == "llama-tiny") tiny = preset.at("parameters");
      if (preset.at("name") == "gpt2-124m") gpt2 = preset.at("parameters");
    }
  }
  EXPECT_EQ(tiny, 125248);
  EXPECT_EQ(gpt2, 124439808);
  EXPECT_EQ(list.at("models").size(), 9u);
  EXPECT_THAT(list.at("precisions").get<std::vector<std::string>>(),
              ::testing::ElementsAre("fp32", "tf32", "bf16-mixed", "bf16", "fp16-mixed"));
  EXPECT_THAT(list.at("optimizers").get<std::vector<std::string>>(),
              ::testing::UnorderedElementsAre("sgd", "adamw"));
}

TEST_F(ListCommandTest, TextNamesEverything) {
  const std::string text = flopmark({"list"}).out;
  EXPECT_THAT(text, ContainsRegex("llama-tiny +125,248  parameters, type llama\n"));
  EXPECT_THAT(text, HasSubstr("46,702,792,704  parameters, type mixtral; 12,879,925,248 per token\n"));
  EXPECT_THAT(text, ContainsRegex("data +.*synthetic"));
  EXPECT_THAT(text, HasSubstr("cuda:N"));
}

}  // namespace
}  // namespace flopmark
