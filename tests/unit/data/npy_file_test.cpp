#include "data/npy_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "flopmark/error.h"
#include "unit/data/array_files.h"

namespace flopmark {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

NpyLayout npy_of(const std::string& file) {
  return npy_layout(std::as_bytes(std::span(file)), "x.npy");
}

std::string npy_refusal(const std::string& file) {
  try {
    npy_of(file);
    return "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    EXPECT_THAT(error.what(), testing::StartsWith("x.npy: "));
    return error.what();
  }
}

TEST(NpyFile, ReadsEveryVersion) {
  for (const int version : {1, 2, 3}) {
    const NpyLayout layout = npy_of(npy_file(npy_header("<f4", "(2, 3)"), std::string(24, 'x'), version));
    EXPECT_EQ(layout.dtype, "float32");
    EXPECT_EQ(layout.element_bytes, 4);
    EXPECT_FALSE(layout.fortran_order);
    EXPECT_THAT(layout.shape, ElementsAre(2, 3));
    EXPECT_EQ(layout.values(), 6);
    EXPECT_EQ(layout.offset_bytes,
              static_cast<int64_t>(npy_header("<f4", "(2, 3)").size()) + (version == 1 ? 10 : 12));
  }
}

// As numpy.save writes it, padded with blanks to 64 bytes; and as older or other writers may.
TEST(NpyFile, ReadsWhatWritersWrite) {
  EXPECT_THAT(npy_of(npy_file("{'descr': '<i8', 'fortran_order': False, 'shape': (5,), }          \n",
                              std::string(40, '\0')))
                  .shape,
              ElementsAre(5));
  EXPECT_THAT(
      npy_of(npy_file(R"({"shape": (5L, 2L), "fortran_order": True, "descr": "|u1"})", std::string(10, 'x')))
          .shape,
      ElementsAre(5, 2));
  EXPECT_EQ(npy_of(npy_file(npy_header("|b1", "(3,)"), std::string("\1\0\1", 3))).dtype, "bool");
  EXPECT_EQ(npy_of(npy_file(npy_header("<f2", "(0, 7)"), "")).values(), 0);
}

TEST(NpyFile, SaysWhatItCannotUse) {
  const std::string four(4, 'x');
  EXPECT_THAT(npy_refusal(npy_file(npy_header("|O", "(4,)"), four)), HasSubstr("Python objects"));
  EXPECT_THAT(npy_refusal(npy_file(npy_header(">f4", "(1,)"), four)),
              AllOf(HasSubstr("big-endian"), HasSubstr("astype(\"<f4\")")));
  EXPECT_THAT(npy_refusal(npy_file(npy_header("<c8", "(1,)"), four)), HasSubstr("dtype \"<c8\""));
  EXPECT_THAT(npy_refusal(npy_file(npy_header("<U4", "(1,)"), four)), HasSubstr("dtype \"<U4\""));
  EXPECT_THAT(npy_refusal(npy_file("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}", four)),
              HasSubstr("structured dtype"));
  EXPECT_THAT(npy_refusal(npy_file(npy_header("<f4", "()"), four)), HasSubstr("a single value"));
  EXPECT_THAT(npy_refusal(npy_file(npy_header("<f4", "(2,)"), four)),
              HasSubstr("says 8 bytes of values, but 4"));
  EXPECT_THAT(npy_refusal(npy_file(npy_header("<f4", "(1,)"), four + four)),
              HasSubstr("says 4 bytes of values, but 8"));
  EXPECT_THAT(npy_refusal(npy_file(npy_header("<f4", "(1,)"), four, 4)), HasSubstr("version 4"));
  EXPECT_THAT(npy_refusal("a text"), HasSubstr("no .npy file"));
  EXPECT_THAT(npy_refusal(""), HasSubstr("no .npy file"));
}

TEST(NpyFile, HeadersThatAreNoneAreRefused) {
  for (const char* header :
       {"", "{", "{}", "{'descr'}", "{'descr': '<f4'}", "{'descr': '<f4', 'shape': (1,)}",
        "{'descr': '<f4', 'fortran_order': Maybe, 'shape': (1,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,-2)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': 1}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296, 4294967296)}",
        "{'descr': '<f4', 'descr': '<f4', 'descr': '<f4'}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'more': '1'}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': "
        "(1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,"
        "1,1,1,1)}"}) {
    EXPECT_NE(npy_refusal(npy_file(header, "xxxx")), "accepted") << header;
  }
}

TEST(NpyFile, NoCutAndNoFlipDoesHarm) {
  const std::string file = npy_file(npy_header("<i8", "(3, 2)"), std::string(48, '\3'), 2);
  for (size_t length = 0; length < file.size(); ++length) {
    EXPECT_NE(npy_refusal(file.substr(0, length)), "accepted") << length;
  }
  std::mt19937 random(1);
  for (int i = 0; i < 5000; ++i) {
    std::string flipped = file;
    flipped[random() % flipped.size()] = static_cast<char>(random());
    npy_refusal(flipped);
  }
}

}  // namespace
}  // namespace flopmark
