#include "data/datasets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/types.h>

#include "data/masked_tokens.h"
#include "data/synthetic_dataset.h"
#include "flopmark/error.h"
#include "unit/data/temp_folder.h"

namespace flopmark {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string refusal(const RunConfig& config) {
  try {
    const auto dataset = make_dataset(config);
    return "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return error.what();
  }
}

TEST(MakeDataset, FollowsTheType) {
  const TempFolder folder;
  RunConfig config;
  config.model.type = "gpt2";
  config.model.vocab_size = 300;
  config.data.sequence_length = 4;
  config.data.path = folder.file("f", "0123456789");
  config.data.type = "text";
  EXPECT_EQ(make_dataset(config)->facts().format, "text");
  EXPECT_EQ(make_dataset(config)->size(), 2);
  config.model.vocab_size = 65536;
  config.data.sequence_length = 2;
  config.data.type = "tokens";
  EXPECT_EQ(make_dataset(config)->facts().format, "raw-uint16");
  EXPECT_EQ(make_dataset(config)->facts().tokens, 5);
  config.data.type = "synthetic";
  EXPECT_NE(dynamic_cast<SyntheticTokens*>(make_dataset(config).get()), nullptr);
  EXPECT_EQ(make_dataset(config)->facts().path, std::nullopt);
  config.model.type = "bert";
  EXPECT_NE(dynamic_cast<MaskedTokens*>(make_dataset(config).get()), nullptr);
  config.data.type = "tokens";
  EXPECT_EQ(make_dataset(config)->facts().tokens, 5);
  config.data.type = "video";
  EXPECT_THAT(refusal(config), AllOf(HasSubstr("\"video\""),
                                     HasSubstr("cifar10, images, plugin, synthetic, tensors, text, tokens")));
}

TEST(MakeDataset, SaysWhichFileIsMissing) {
  const TempFolder folder;
  RunConfig config;
  config.model.vocab_size = 300;
  config.data.type = "text";
  config.data.path = folder.path() / "missing.txt";
  EXPECT_THAT(refusal(config), AllOf(HasSubstr("missing.txt"), HasSubstr("No such file")));
}

}  // namespace
}  // namespace flopmark
