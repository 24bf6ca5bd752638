#include "plugin/checked_dataset.h"

#include <gmock/gmock.h>

#include "data/loader.h"
#include "unit/plugin/fake_plugins.h"

namespace flopmark {
namespace {

using test::faulty_data;
using test::with_fault;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string refused_batch(const std::string& fault, ExitCode code = ExitCode::cannot_judge) {
  const auto data = faulty_data(with_fault(fault));
  return test::refusal([&] { data->collate({0, 1}); }, code);
}

TEST(CheckedDataset, GivesThePluginsBatchesAndFacts) {
  const auto data = faulty_data(with_fault("has_facts"));
  EXPECT_EQ(data->size(), 64);
  const Batch batch = data->collate({3, 5, 7});
  EXPECT_EQ(batch.samples, 3);
  ASSERT_EQ(batch.inputs.size(), 2U);
  EXPECT_EQ(batch.inputs[0].sizes(), at::IntArrayRef({3, 4}));
  EXPECT_EQ(data->facts().hash, "abc");
  EXPECT_EQ(data->facts().tokens, 7);
}

TEST(CheckedDataset, ASizeIsAtLeastOne) {
  EXPECT_THAT(test::refusal([] { faulty_data(with_fault("empty")); }),
              HasSubstr("size() of data is 0, expected at least one sample"));
  EXPECT_THAT(test::refusal([] { faulty_data(with_fault("size_throws")); }),
              HasSubstr("size() or facts() of data threw: cannot count"));
}

TEST(CheckedDataset, WhatCollateThrowsNamesThePlugin) {
  EXPECT_THAT(refused_batch("throw"), AllOf(StartsWith("not an Error: data.plugin "),
                                            HasSubstr("collate() of data threw: a fault on purpose")));
  EXPECT_THAT(refused_batch("throw_int"), HasSubstr("collate() of data threw something that is not"));
  EXPECT_THAT(refused_batch("usage", ExitCode::usage),
              HasSubstr("collate() of data: the batch is too small"));
}

TEST(CheckedDataset, ABatchHasTensorsOnTheHostAndSamples) {
  EXPECT_THAT(refused_batch("no_tensors"), HasSubstr("collate() of data returned a batch without tensors"));
  EXPECT_THAT(refused_batch("undefined_tensor"),
              HasSubstr("returned inputs[1] undefined, expected a tensor on the host"));
  EXPECT_THAT(refused_batch("not_on_host"), HasSubstr("returned inputs[0] on meta"));
  EXPECT_THAT(refused_batch("no_samples"),
              HasSubstr("a batch of 0 samples, 0 tokens and 0 images for 2 indices"));
  EXPECT_THAT(refused_batch("too_many"), HasSubstr("a batch of 3 samples"));
}

TEST(CheckedDataset, WhatALoaderThreadMeetsComesOutOfTheLoader) {
  Loader loader(faulty_data(R"({"fault": "throw_int", "at": 3})"),
                {.batch_size = 4, .workers = 1, .prefetch = 2, .shuffle = false});
  EXPECT_EQ(loader.next().samples, 4);
  EXPECT_EQ(loader.next().samples, 4);
  EXPECT_THAT(test::refusal([&] { loader.next(); }),
              HasSubstr("threw something that is not a std::exception"));
}

}  // namespace
}  // namespace flopmark
